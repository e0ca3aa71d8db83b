package cli

import (
	"maps"
	"reflect"
	"testing"

	"postern/client"
	"postern/core/contract"
)

// TestKindOf checks that everything in recognizedBy is found by its name in every path, and in no flag that can have
// something else.
func TestKindOf(t *testing.T) {
	found := map[string]bool{}
	for _, op := range contract.Operations() {
		for _, m := range op.Members() {
			kind := kindOf(m)
			if m.Place == contract.InPath && recognizedBy[m.Name] != "" && kind != m.Name {
				t.Errorf("%s: %s is %q", op.Describe().Command, m.Name, kind)
			}
			if m.Place == contract.InPath && kind != "" {
				found[kind] = true
			}
			if kind != "" && withName(kind, m.Doc) == m.Doc {
				t.Errorf("%s: %s: the name isn't in %q", op.Describe().Command, m.Name, m.Doc)
			}
		}
	}
	for kind := range recognizedBy {
		if !found[kind] {
			t.Errorf("%s: no path has one", kind)
		}
	}
	for doc, want := range map[string]string{
		"ID of the user whose token the call sends":                                     "user",
		"ID of a user, name of an app that owns keys, or subject and issuer of a token": "",
	} {
		m := contract.Member{Name: "user", Place: contract.InQuery, Type: reflect.TypeFor[string](), Doc: doc}
		if got := kindOf(m); got != want {
			t.Errorf("%s: got %q, want %q", doc, got, want)
		}
	}
}

func TestUniqueNames(t *testing.T) {
	got := uniqueNames("group", []client.Listed{
		{ID: "grp_1", Name: "staff"}, {ID: "grp_2", Name: "ops"}, {ID: "grp_3", Name: "staff"},
		{ID: "grp_2", Name: "ops"}, // seen with another credential
		{ID: "grp_4", Name: "staff"}, {ID: "grp_5", Name: "--yes"}, {ID: "grp_6", Name: "on call"}, {ID: "grp_7"},
	})
	if want := map[string]string{"grp_2": "ops"}; !maps.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = uniqueNames("user", []client.Listed{
		{ID: "usr_1", Email: "Ana@example.com"}, {ID: "usr_2", Email: "ana@example.com"},
	})
	if len(got) > 0 {
		t.Errorf("got %q for one address with different case", got)
	}
	if got := uniqueNames("", []client.Listed{{ID: "key_1", Name: "a"}}); len(got) > 0 {
		t.Errorf("got %q for what isn't found by name", got)
	}
}
