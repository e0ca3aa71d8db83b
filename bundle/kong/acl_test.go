package kong

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/policy"
	"postern/core/snapshot"
)

func ruleOf(id, path string, groups ...string) snapshot.Rule {
	return snapshot.Rule{ID: id, Methods: []string{"*"}, Path: path, Groups: groups}
}

func TestACL_groupsOfEveryRoute(t *testing.T) {
	staff, ops := ruleOf("rul_1", "/staff", "staff", "boss"), ruleOf("rul_2", "/ops/{id}", "ops", "staff")
	scopes := snapshot.Rule{ID: "rul_3", Methods: []string{"GET"}, Path: "/x", Scopes: []string{"s"}}
	inShadow := scopes
	inShadow.Mode = snapshot.RulesShadow
	for name, tt := range map[string]struct {
		rules snapshot.Rules
		want  []string
	}{
		"closed": {
			snapshot.Rules{Default: "deny", List: []snapshot.Rule{ops, staff}}, []string{"boss", "ops", "staff"},
		},
		"open by default": {snapshot.Rules{List: []snapshot.Rule{ops, staff}}, nil},
		"a rule for all":  {snapshot.Rules{Default: "deny", List: []snapshot.Rule{ops, scopes}}, nil},
		"a rule in shadow": {
			snapshot.Rules{Default: "deny", List: []snapshot.Rule{staff, inShadow}}, []string{"boss", "staff"},
		},
		"default in shadow":  {snapshot.Rules{Default: "deny", Mode: "shadow", List: []snapshot.Rule{staff}}, nil},
		"nothing is allowed": {snapshot.Rules{Default: "deny"}, nil},
		"no rules":           {snapshot.Rules{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			in.Project.Versions[0].Rules = tt.rules
			var doc struct {
				Services []struct {
					Name   string
					Routes []struct{ Plugins []json.RawMessage }
				}
			}
			if err := json.Unmarshal([]byte(write(t, in)[gatewayFile]), &doc); err != nil {
				t.Fatal(err)
			}
			for _, service := range doc.Services {
				for _, route := range service.Routes {
					var got []string
					for _, plugin := range route.Plugins {
						var acl struct {
							Name   string
							Config struct {
								Allow  []string
								Hidden bool `json:"hide_groups_header"`
								Always bool `json:"always_use_authenticated_groups"`
							}
						}
						err := json.Unmarshal(plugin, &acl)
						if err != nil || acl.Name != "acl" || !acl.Config.Hidden || !acl.Config.Always {
							t.Errorf("%s has the plugin %s: %v", service.Name, plugin, err)
						}
						got = acl.Config.Allow
					}
					want := tt.want
					if !slices.Contains([]string{"1.0.0~prod", "1.0.0~dev"}, service.Name) {
						want = nil
					}
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("groups that the acl of %s allows (-want +got):\n%s", service.Name, diff)
					}
				}
			}
			for _, item := range ledgerOf(t, in) {
				if item.Kind == "rule" && item.Code != "kong.rule.shadow" &&
					(item.Code == "kong.rule.acl") != (tt.want != nil) {
					t.Errorf("item %s has the code %s", item.ID, item.Code)
				}
			}
		})
	}
}

// Whatever the rules let through is in a group that acl allows: acl never refuses what the plugin has let
// through.
func TestACL_sameVerdicts(t *testing.T) {
	random := rand.New(rand.NewPCG(16, 7))
	names := []string{"staff", "ops", "sales", "eu"}
	some := func(most int) (out []string) {
		for _, name := range names {
			if random.IntN(len(names)) < most {
				out = append(out, name)
			}
		}
		return out
	}
	allowed, closed := 0, 0
	for range 3000 {
		v := &snapshot.Version{ID: "ver_1", Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
			Mode:    snapshot.Authenticate,
			Methods: []string{snapshot.APIKey},
			Keyless: snapshot.Reject,
		}}}
		v.Rules.Default = []snapshot.RuleDefault{
			snapshot.RulesDeny, snapshot.RulesDeny, snapshot.RulesAllow,
		}[random.IntN(3)]
		for _, path := range []string{"/a", "/{x}", "/a/{y}"} {
			rule := ruleOf("rul"+path, path, some(2)...)
			rule.Role = []string{"", snapshot.RoleAdmin}[random.IntN(2)]
			rule.Mode = []snapshot.RuleMode{"", "", "", snapshot.RulesShadow, snapshot.RulesOff}[random.IntN(5)]
			v.Rules.List = append(v.Rules.List, rule)
		}
		acl := closedTo(v)
		if len(acl) == 0 {
			continue
		}
		closed++
		rules, err := policy.CompileRules(&v.Rules)
		if err != nil {
			t.Fatal(err)
		}
		member := snapshot.Member{User: "usr_1", TenantID: "tnt_1", In: some(2)}
		for _, name := range member.In {
			if random.IntN(2) == 0 {
				member.Admin = append(member.Admin, name)
			}
		}
		call := policy.Call{
			Access: &v.Access, Rules: rules, Now: time.Now(), Environment: "prod", KeyLines: 1, Method: "GET",
			Realm: policy.NewRealm(&snapshot.Project{ID: "prj_1", Members: []snapshot.Member{member},
				Tenants: []snapshot.Tenant{{ID: "tnt_1", Name: "default"}}}),
			Key: &snapshot.Key{
				ID: "key_1", ProjectID: "prj_1", Owner: "usr_1", TenantID: "tnt_1", Tenant: "default",
				State: snapshot.KeyActive,
			},
		}
		for _, call.Path = range []string{"/a", "/b", "/a/1", "/a;x/1", "/a%2F1", "/none/1/2"} {
			if policy.Decide(&call).Denial != (policy.Denial{}) {
				continue
			}
			allowed++
			if !slices.ContainsFunc(member.In, func(name string) bool { return slices.Contains(acl, name) }) {
				t.Errorf("%s is let through to a member of %v, acl allows %v by %+v", call.Path,
					member.In, acl, v.Rules)
			}
		}
	}
	if allowed < 100 || closed < 100 {
		t.Errorf("%d calls allowed, %d versions closed: that shows too little", allowed, closed)
	}
}
