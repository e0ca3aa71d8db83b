package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"postern/core/snapshot"
	"postern/testkit"
)

// held are relations by their keys.
type held map[RelationKey]bool

func (h held) Holds(projectID string, key RelationKey) bool { return projectID == "prj_1" && h[key] }

func owned(objects ...string) held {
	out := held{}
	for _, object := range objects {
		tenant, rest, _ := strings.Cut(object, " ")
		user, what, _ := strings.Cut(rest, " ")
		out[KeyOf(tenant, strings.ReplaceAll(user, "_(", " ("), OwnerRelation, what)] = true
	}
	return out
}

func TestCheckObject(t *testing.T) {
	for _, tc := range []struct {
		object, path string
		answer       bool
		want         error
	}{
		{"order:{id}", "/orders/{id}", false, nil},
		{"order:{shop}/{id}", "/shops/{shop}/orders/{id}", false, nil},
		{"order:v1-{id}.x", "/orders/{id}", false, nil},
		{"shop:main", "/shop", false, nil},
		{"order:{response.id}", "/orders", true, nil},
		{"order:{shop}/{response.data.0.id}", "/shops/{shop}/orders", true, nil},
		{"order:{response.id}", "/orders", false, ErrObjectParameter},
		{"order:{response.id}", "/x/{response.id}", false, nil},
		{"order:{order}", "/orders/{id}", false, ErrObjectParameter},
		{"order", "/orders/{id}", false, ErrObjectType},
		{"Order:{id}", "/orders/{id}", false, ErrObjectType},
		{":{id}", "/orders/{id}", false, ErrObjectType},
		{"order:", "/orders/{id}", false, ErrObjectLength},
		{"order:{id", "/orders/{id}", false, ErrObjectBraces},
		{"order:id}", "/orders/{id}", false, ErrObjectBraces},
		{"order:{}", "/orders/{id}", false, ErrObjectBraces},
		{"order:{a}{b}", "/{a}/{b}", false, ErrObjectSlash},
		{"order:{a}-{b}", "/{a}/{b}", false, ErrObjectSlash},
		{"order:{a}//{b}", "/{a}/{b}", false, ErrObjectEmpty},
		{"order:/{id}", "/orders/{id}", false, ErrObjectEmpty},
		{"order:{id}%41", "/orders/{id}", false, ErrObjectCharacter},
		{"order:{response.}", "/orders", true, ErrObjectAnswer},
		{"order:{response.a b}", "/orders", true, ErrObjectAnswer},
		{"order:" + strings.Repeat("x", 600), "/orders", true, ErrObjectLength},
	} {
		t.Run(tc.object+" of "+tc.path, func(t *testing.T) {
			got := CheckObject(tc.object, tc.path, tc.answer)
			if got != tc.want { //nolint:errorlint // they are not wrapped
				t.Errorf("%v, want %v", got, tc.want)
			}
		})
	}
}

func TestCanonicalObject(t *testing.T) {
	for in, want := range map[string]string{
		"order:42":                          "order:42",
		"order:%41%2fb":                     "order:A%2Fb",
		"order:Zoë":                         "order:Zo%C3%AB",
		"order:zo%c3%ab":                    "order:zo%C3%AB",
		"order:a@b.example":                 "order:a@b.example",
		"order:a;b c":                       "order:a%3Bb%20c",
		"order:100%":                        "order:100%25",
		"order:shop/42":                     "order:shop/42",
		"order:a:b":                         "order:a:b",
		"order:":                            "",
		"order:/42":                         "",
		"order:a//b":                        "",
		"42":                                "",
		"Order:42":                          "",
		strings.Repeat(":", 9):              "",
		"order:" + strings.Repeat("ü", 200): "",
	} {
		t.Run(in, func(t *testing.T) {
			got, err := CanonicalObject(in)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("%q, %v; want %q", got, err, want)
			}
			if again, _ := CanonicalObject(got); err == nil && again != got {
				t.Errorf("%q becomes %q", got, again)
			}
		})
	}
}

func TestCanonicalObject_tooLong(t *testing.T) {
	for _, in := range []string{"order:" + strings.Repeat("x", 507), "order:" + strings.Repeat("%41", 2000)} {
		if _, err := CanonicalObject(in); !errors.Is(err, ErrObjectLong) {
			t.Errorf("an object of %d bytes: %v, want %v", len(in), err, ErrObjectLong)
		}
	}
}

// ownerCall is a call with a key of tenant tnt_1 and owner ana, or as change makes it.
func ownerCall(rules *Rules, path string, change func(*Call, *Identity)) (*Call, *Identity) {
	c := &Call{
		Realm:  &Realm{ID: "prj_1"},
		Rules:  rules,
		Method: "GET",
		Path:   path,
		Relations: owned("tnt_1 ana order:42", "tnt_1 ana order:a%2Fb", "tnt_1 ana order:s/42", "tnt_1 usr_1 order:7",
			"tnt_1 sub_(https://iss.example) order:8", "tnt_1 ana order:x;y", "tnt_1 ana order:x%3By",
			"tnt_1 ana order:x",
			"tnt_1 ana order:%252e", "tnt_1 cli_1 order:9"),
	}
	id := &Identity{TenantID: "tnt_1", Owner: "ana", CredentialID: "key_1"}
	if change != nil {
		change(c, id)
	}
	return c, id
}

func TestOwnerRules(t *testing.T) {
	rules, err := CompileRules(&snapshot.Rules{List: []snapshot.Rule{
		{ID: "one", Methods: []string{"GET"}, Path: "/orders/{id}", Owner: "order:{id}"},
		{ID: "two", Methods: []string{"GET"}, Path: "/shops/{shop}/orders/{id}", Owner: "order:{shop}/{id}"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	user := func(_ *Call, id *Identity) { id.CredentialID, id.Owner, id.User = "", "ana", "usr_1" }
	foreign := func(_ *Call, id *Identity) { id.User, id.Issuer = "sub", "https://iss.example" }
	for _, tc := range []struct {
		name, path string
		change     func(*Call, *Identity)
		allow      bool
	}{
		{"own object", "/orders/42", nil, true},
		{"slash at the end", "/orders/42/", nil, true},
		{"object of another", "/orders/43", nil, false},
		{"two parameters", "/shops/s/orders/42", nil, true},
		{"two parameters, another shop", "/shops/t/orders/42", nil, false},
		{"encoded slash in an id", "/orders/a%2Fb", nil, true},
		{"encoded slash, not two parameters", "/orders/s%2F42", nil, false},
		{"escape that a second decoding turns into another", "/orders/%2534%2532", nil, false},
		{"parameters of a segment", "/orders/42;x=1", nil, false},
		{"parameters of a segment, encoded", "/orders/42%3Bx", nil, false},
		{"owner of every reading", "/orders/x;y", nil, true},
		{"encoded backslash", "/orders/42%5C..", nil, false},
		{"another tenant", "/orders/42", func(_ *Call, id *Identity) { id.TenantID = "tnt_2" }, false},
		{"no tenant", "/orders/42", func(_ *Call, id *Identity) { id.TenantID = "" }, false},
		{"another project", "/orders/42", func(c *Call, _ *Identity) { c.Realm = &Realm{ID: "prj_2"} }, false},
		{"another owner", "/orders/42", func(_ *Call, id *Identity) { id.Owner = "bob" }, false},
		{"fallback owner", "/orders/42", func(_ *Call, id *Identity) { id.CredentialID = "" }, false},
		{"no table", "/orders/42", func(c *Call, _ *Identity) { c.Relations = nil }, false},
		{"user of a token before the key's owner", "/orders/42",
			func(_ *Call, id *Identity) { id.User = "usr_1" }, false},
		{"user of a token", "/orders/7", user, true},
		{"user of a token with a fallback owner", "/orders/42", user, false},
		{"subject of a foreign issuer", "/orders/8", foreign, true},
		{"subject of another issuer", "/orders/8", func(c *Call, id *Identity) {
			foreign(c, id)
			id.Issuer = "https://other.example"
		}, false},
		{"subject named like a user", "/orders/7", func(c *Call, id *Identity) {
			foreign(c, id)
			id.User = "usr_1"
		}, false},
		{"machine", "/orders/9", func(c *Call, id *Identity) {
			c.Token = &Token{Subject: "cli_1", Hosted: Hosted{Client: "cli_1"}}
			id.CredentialID, id.Owner = "", "cli_1"
		}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			call, id := ownerCall(rules, tc.path, tc.change)
			got, _ := rules.decide(call, id)
			want := RuleOutcome{}
			if !tc.allow {
				want.Denial = NotOwner
			}
			if got.Denial != want.Denial {
				t.Errorf("%s: %+v", tc.path, got)
			}
		})
	}
}

func TestOwnerRules_allocations(t *testing.T) {
	rules, err := CompileRules(&snapshot.Rules{List: []snapshot.Rule{
		{ID: "one", Methods: []string{"GET"}, Path: "/orders/{id}", Owner: "order:{id}"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/orders/42", "/orders/43", "/orders/a%2Fb", "/orders/x;y"} {
		for name, change := range testkit.ByName(map[string]func(*Call, *Identity){
			"key":     nil,
			"foreign": func(_ *Call, id *Identity) { id.User, id.Issuer = "sub", "https://iss.example" },
		}) {
			call, id := ownerCall(rules, path, change)
			if n := testing.AllocsPerRun(100, func() { rules.decide(call, id) }); n != 0 {
				t.Errorf("%s with a %s: %v allocations", path, name, n)
			}
		}
	}
}

func TestTracking(t *testing.T) {
	list := []snapshot.Rule{
		{ID: "new", Methods: []string{"POST"}, Path: "/orders", Remember: "order:{response.id}"},
		{ID: "end", Methods: []string{"DELETE"}, Path: "/orders/{id}", Forget: "order:{id}",
			Mode: snapshot.RulesShadow},
		{ID: "off", Methods: []string{"POST"}, Path: "/off", Remember: "x:{response.id}", Mode: snapshot.RulesOff},
		{ID: "special", Methods: []string{"POST"}, Path: "/{any}", Mode: snapshot.RulesShadow},
	}
	rules, err := CompileRules(&snapshot.Rules{List: list})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ method, path, want string }{
		{"POST", "/orders", "new"},
		{"DELETE", "/orders/42", "end"},
		{"POST", "/off", ""},
		{"GET", "/orders", ""},
	} {
		t.Run(tc.method+" "+tc.path, func(t *testing.T) {
			got := rules.tracking(&Call{Method: tc.method, Path: tc.path})
			if (got == nil) != (tc.want == "") || (got != nil && got.Rule != tc.want) {
				t.Errorf("%+v, want %q", got, tc.want)
			}
		})
	}
	object, ok := rules.tracking(&Call{Method: "DELETE", Path: "/orders/%34a%2fb"}).Forgotten("/orders/%34a%2fb")
	if object != "order:4a%2Fb" || !ok {
		t.Errorf("%q %v", object, ok)
	}
}

func TestExplainOwnership(t *testing.T) {
	rules, err := CompileRules(&snapshot.Rules{List: []snapshot.Rule{
		{ID: "one", Methods: []string{"GET"}, Path: "/orders/{id}", Owner: "order:{id}"},
		{ID: "new", Methods: []string{"POST"}, Path: "/orders", Remember: "order:{response.id}"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ method, path, want string }{
		"owner":    {"GET", "/orders/42", "ana owns order:42. The exported gateway checks this with OpenFGA"},
		"not":      {"GET", "/orders/43", "ana doesn't own order:43."},
		"remember": {"POST", "/orders", "records ana as the owner"},
	} {
		t.Run(name, func(t *testing.T) {
			call, _ := ownerCall(rules, tc.path, nil)
			call.Method = tc.method
			call.Access = &snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode: snapshot.Authenticate, Methods: []string{snapshot.APIKey},
			}}
			call.Realm = NewRealm(&snapshot.Project{
				ID: "prj_1", Tenants: []snapshot.Tenant{{ID: "tnt_1", Name: "default"}},
			})
			call.KeyLines = 1
			call.Key = &snapshot.Key{
				ID:        "key_1",
				ProjectID: "prj_1",
				Owner:     "ana",
				TenantID:  "tnt_1",
				State:     snapshot.KeyActive,
			}
			var e Explanation
			e.Explain(call)
			if text := fmt.Sprint(e.Steps); !strings.Contains(text, tc.want) {
				t.Errorf("%s lacks %q", text, tc.want)
			}
		})
	}
}
