package openfga_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"postern/bundle/openfga"
	"postern/core/snapshot"
	"postern/testkit"
	"postern/testkit/golden"
)

func source() openfga.Source {
	tenant := snapshot.Tenant{ID: "tnt_1", Name: "default", Directory: &snapshot.Directory{
		Users: 2,
		Groups: []snapshot.Group{
			{ID: "grp_1", Name: "sales", Parents: []string{"grp_2"}, Owners: []snapshot.GroupOwner{
				{Owner: "billing/eu", Role: "admin"}, {Owner: "reports", Role: "member"},
			}},
			{ID: "grp_2", Name: "staff"},
		},
	}}
	return openfga.Source{
		Project: &snapshot.Project{Name: "shop", Versions: []snapshot.Version{
			{ID: "ver_1", Name: "1.0.0", Rules: snapshot.Rules{Default: snapshot.RulesDeny, List: []snapshot.Rule{
				{ID: "rul_1", Methods: []string{"GET"}, Path: "/orders/{id}", Scopes: []string{"orders:read", "a#b"}},
				{ID: "rul_3", Methods: []string{"GET", "DELETE"}, Path: "/orders/{id}/x", Owner: "order:{id}",
					Groups: []string{"sales"}},
				{ID: "rul_2", Methods: []string{"*"}, Path: "/\"\nx", Groups: []string{"staff", "gone"}, Role: "admin"},
			}}},
			{ID: "ver_2", Name: "2.0.0", Rules: snapshot.Rules{ReadWriteScopes: true, List: []snapshot.Rule{
				{ID: "rul_1", Methods: []string{"POST"}, Path: "/"},
			}}},
			{ID: "ver_3", Name: "3.0.0"},
		}},
		Tenants: []snapshot.Tenant{tenant},
		Relations: func(context.Context) iter.Seq2[*snapshot.Relation, error] {
			return func(yield func(*snapshot.Relation, error) bool) {
				_ = yield(&snapshot.Relation{
					TenantID: "tnt_1",
					Relation: "owner",
					User:     "usr_1",
					Object:   "order:a%2Fb",
				}, nil) &&
					yield(&snapshot.Relation{
						TenantID: "tnt_1",
						Relation: "owner",
						User:     "ana (https://id)",
						Object:   "order:x/9",
					}, nil)
			}
		},
		Users: func(context.Context, snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
			return func(yield func(*snapshot.User, error) bool) {
				_ = yield(&snapshot.User{ID: "usr_1"}, nil) && yield(&snapshot.User{
					ID: "usr_2",
					Memberships: []snapshot.Membership{
						{GroupID: "grp_1", Role: snapshot.RoleMember}, {GroupID: "grp_2", Role: snapshot.RoleAdmin},
					},
				}, nil)
			}
		},
	}
}

func TestSource_golden(t *testing.T) {
	s := source()
	for name, write := range testkit.ByName(map[string]func(io.Writer) error{
		"model.fga":      s.WriteDSL,
		"model.json":     s.WriteJSON,
		"store.fga.yaml": s.WriteStore,
		"tuples.json":    func(w io.Writer) error { return s.WriteTuples(t.Context(), w) },
	}) {
		var got bytes.Buffer
		if err := write(&got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		golden.Compare(t, filepath.Join("testdata", name+".golden"), got.String())
	}
}

// OpenFGA refuses a store whose tuples repeat.
func TestTuples_unique(t *testing.T) {
	s := source()
	for i := range s.Project.Versions {
		for n := range s.Project.Versions[i].Rules.List {
			rule := &s.Project.Versions[i].Rules.List[n]
			rule.Groups = append(rule.Groups, rule.Groups...)
			rule.Scopes = append(rule.Scopes, rule.Scopes...)
		}
	}
	var out bytes.Buffer
	if err := s.WriteTuples(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	var tuples []openfga.Tuple
	if err := json.Unmarshal(out.Bytes(), &tuples); err != nil {
		t.Fatal(err)
	}
	seen := map[openfga.Tuple]bool{}
	for _, one := range tuples {
		if seen[one] {
			t.Errorf("%v comes twice", one)
		}
		seen[one] = true
	}
}

func TestTuples_errorOfUsers(t *testing.T) {
	s, broken := source(), errors.New("broken")
	s.Users = func(context.Context, snapshot.Tenant) iter.Seq2[*snapshot.User, error] {
		return func(yield func(*snapshot.User, error) bool) { yield(nil, broken) }
	}
	if err := s.WriteTuples(t.Context(), io.Discard); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
}

// The names that OpenFGA accepts for an object, as measured: no colon after the type, no "#", no white space, at most
// 256 bytes.
var taken = regexp.MustCompile(`^[a-z]+:[A-Za-z0-9._%~-]{1,248}$`)

func TestNames_objects(t *testing.T) {
	for name, want := range map[string]string{
		"orders:read": "scope:orders%3Aread",
		"*":           "scope:%2A",
		"a b#c\n":     "scope:a%20b%23c%0A",
		"~x":          "scope:%7Ex",
		"50%":         "scope:50%25",
		"é":           "scope:%C3%A9",
	} {
		if got := openfga.Scope(name); got != want {
			t.Errorf("Scope(%q) = %s, want %s", name, got, want)
		}
	}
	long := strings.Repeat(":", 128)
	seen := map[string]bool{}
	for _, text := range []string{long, long[1:], strings.Repeat("x", 240), strings.Repeat("x", 241), "x"} {
		for _, got := range []string{
			openfga.Scope(text), openfga.User(text), openfga.Group(text), openfga.Version(text),
			openfga.Rule(text, text),
			openfga.DefaultRule(text),
		} {
			if !taken.MatchString(got) || seen[got] {
				t.Errorf("%q: %s cannot be the name of an object, or was before", text, got)
			}
			seen[got] = true
		}
	}
}
