package scim_test

import (
	"context"
	"iter"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle/scim"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// leaving is a tenant of an export: users as a tenant can have them, with texts that shells,
// awk and JSON treat specially, and groups in groups.
func leaving() scim.Source {
	in := func(groups ...string) (out []snapshot.Membership) {
		for _, g := range groups {
			out = append(out, snapshot.Membership{GroupID: g})
		}
		return out
	}
	long := strings.Repeat("𝕏", 200)
	users := []snapshot.User{
		{
			ID: "usr_1", Name: `"$(id)" \"` + "`id` 'x' & \\1 %s \\", Email: "ana@example.com",
			Memberships: in("grp_a", "grp_c"),
		},
		{ID: "usr_2", Name: long, UserName: `"},{"id":"usr_1","externalId":"`, State: "frozen",
			Memberships: in("grp_b")},
		{ID: "usr_3", Name: "\u202eevil\u200b {vault://env/HOME}", Email: "o'x+`id`@example.com",
			Memberships: in("grp_b")},
		{ID: "usr_4", UserName: "usr_1", Memberships: in("grp_a")},
		{ID: "usr_5", Email: "ana@example.com"}, // which another has
	}
	groups := []snapshot.Group{
		{ID: "grp_a", Name: "a", DisplayName: `Outer "],"members":[`},
		{ID: "grp_b", Name: "b", DisplayName: long, Parents: []string{"grp_a"}},
		{ID: "grp_c", Name: "c", Parents: []string{"grp_a", "grp_b"}},
		{ID: "grp_d", Name: "d"},
	}
	tenant := snapshot.Tenant{Name: "default", Directory: &snapshot.Directory{Users: int64(len(users)), Groups: groups}}
	return scim.Source{Tenant: tenant, Users: func(context.Context) iter.Seq2[*snapshot.User, error] {
		return func(yield func(*snapshot.User, error) bool) {
			for i := range users {
				if !yield(&users[i], nil) {
					return
				}
			}
		}
	}}
}

// push runs the script of an export, which must exit with the status.
func push(t *testing.T, status int, s scim.Source, url, token string) string {
	t.Helper()
	dir := t.TempDir()
	var users, groups strings.Builder
	if err := s.WriteUsers(t.Context(), &users); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteGroups(t.Context(), &groups); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"users.json": users.String(), "groups.json": groups.String(), "push.sh": scim.Script,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), filepath.Join(dir, "push.sh"), url)
	command.Env = append(os.Environ(), "SCIM_TOKEN="+token)
	out, err := command.CombinedOutput()
	if got := command.ProcessState.ExitCode(); got != status {
		t.Fatalf("push.sh exits with %d, want %d: %v\n%s", got, status, err, out)
	}
	return string(out)
}

// TestSCIM_push pushes an export into a tenant. Two users are called the same there, so that the second is refused, and
// everyone else goes on. Two users with one address are both created.
func TestSCIM_push(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		c := newClient(t, controlplane.NewFixture(t, db), "shop")
		listener := httptest.NewServer(c.Server.Handler())
		t.Cleanup(listener.Close)
		made, err := c.Server.Tokens.Create(t.Context(), c.Principal, contract.TokenCreation{
			Body: contract.NewToken{Name: "t", Scopes: []string{"users"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		for n, want := range [][]string{
			{
				"Users usr_4 was refused with 409 (uniqueness)", "Users: 4 created, 0 unchanged, 1 failed",
				"Groups: 4 created, 0 unchanged, 0 failed", "Members of groups: 7 added, 0 unchanged, 1 failed",
			},
			{
				"Users usr_4 was refused with 409 (uniqueness)", "Users: 0 created, 4 unchanged, 1 failed",
				"Groups: 0 created, 4 unchanged, 0 failed", "Members of groups: 0 added, 7 unchanged, 1 failed",
			},
		} {
			before := c.AuditNumbers(t)
			out := push(t, 1, leaving(), listener.URL+c.base, made.Secret.Reveal())
			for _, line := range want {
				if !strings.Contains(out, line) {
					t.Errorf("push %d does not say %q:\n%s", n+1, line, out)
				}
			}
			if diff := cmp.Diff(before, c.AuditNumbers(t)); n == 1 && diff != "" {
				t.Errorf("the second push changes something:\n%s", diff)
			}
		}
		c.hasPeople(t)
	})
}

// hasPeople asserts who was pushed, by the externalId.
func (c client) hasPeople(t *testing.T) {
	t.Helper()
	ours := map[string]string{}
	for _, kind := range []string{"/Users", "/Groups"} {
		for _, one := range c.resources(t, kind) {
			ours[one["id"].(string)] = one["externalId"].(string)
		}
	}
	got := map[string][]string{}
	for _, g := range c.resources(t, "/Groups") {
		name := g["externalId"].(string)
		got[name] = []string{}
		members, _ := g["members"].([]any)
		for _, m := range members {
			got[name] = append(got[name], ours[m.(map[string]any)["value"].(string)])
		}
		slices.Sort(got[name])
	}
	want := map[string][]string{
		"grp_a": {"grp_b", "grp_c", "usr_1"}, "grp_b": {"grp_c", "usr_2", "usr_3"}, "grp_c": {"usr_1"}, "grp_d": {},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("members (-want +got):\n%s", diff)
	}
	var frozen []string
	for _, u := range c.resources(t, "/Users?filter=active+eq+false") {
		frozen = append(frozen, u["displayName"].(string), u["userName"].(string))
	}
	barred := []string{strings.Repeat("𝕏", 200), `"},{"id":"usr_1","externalid":"`}
	if diff := cmp.Diff(barred, frozen); diff != "" {
		t.Errorf("frozen users (-want +got):\n%s", diff)
	}
}

// resources returns those of a list.
func (c client) resources(t *testing.T, path string) (list []map[string]any) {
	t.Helper()
	all, _ := c.call(t, 200, "GET", path, "").Body["Resources"].([]any)
	for _, one := range all {
		list = append(list, one.(map[string]any))
	}
	return list
}
