package cli

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/spf13/cobra"

	"postern/core/contract"
	"postern/platform/fault"
)

// errAbsent is the server's answer that something doesn't exist.
var errAbsent = fault.New(fault.NotFound, "not_found", "Not found.")

func TestNameAbsent(t *testing.T) {
	group := reference{noun: "group", name: "admins", path: "/groups/admins"}
	user := reference{noun: "user", name: "ana"}
	team := reference{noun: "team", name: "acme", flag: "--team"}
	const missing = " doesn't exist, or you don't have access to it"
	for name, tc := range map[string]struct {
		err    error
		exists bool // what has a path
		all    []reference
		want   string
	}{
		"argument":           {errAbsent, false, []reference{user}, `the user "ana"` + missing},
		"flag":               {errAbsent, false, []reference{team}, `--team: the team "acme"` + missing},
		"outer argument":     {errAbsent, false, []reference{group, user}, `the group "admins"` + missing},
		"inner argument":     {errAbsent, true, []reference{group, user}, `the user "ana"` + missing},
		"flag, not argument": {errAbsent, true, []reference{group, team}, `--team: the team "acme"` + missing},
		"one of two":         {errAbsent, true, []reference{user, team}, `the user "ana" or the team "acme"` + missing},
		"none of them":       {errAbsent, true, []reference{group}, errAbsent.Public},
		"without references": {errAbsent, true, nil, errAbsent.Public},
		"named already":      {errAbsent.Because(errors.New("cause")), false, []reference{user}, errAbsent.Public},
	} {
		t.Run(name, func(t *testing.T) {
			err := nameAbsent(tc.err, tc.all, func(string) error {
				if tc.exists {
					return nil
				}
				return errAbsent
			})
			known, ok := errors.AsType[*fault.Error](err)
			if !ok || known.Public != tc.want || known.Kind != fault.NotFound {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
	other := fault.New(fault.Conflict, "exists", "It exists.")
	if err := nameAbsent(other, []reference{user}, nil); !errors.Is(err, other) {
		t.Errorf("an error that isn't about a missing object became %v", err)
	}
}

func TestReferencesOf(t *testing.T) {
	op := contract.RemoveGroupMember
	in := contract.GroupMemberPath{}
	in.Group, in.User = "a b", "usr_1"
	all := referencesOf(&cobra.Command{}, op.Operation, op.Members(), reflect.ValueOf(in))
	want := "[the group \"a b\" the user \"usr_1\"]"
	if fmt.Sprint(all) != want {
		t.Fatalf("got %v, want %s", all, want)
	}
	if all[0].path != "/api/v1/groups/a%20b" || all[1].path != "" {
		t.Errorf("the paths are %q and %q", all[0].path, all[1].path)
	}
}

func TestHas(t *testing.T) {
	shop := contract.Project{
		Tenants:  []string{"acme"},
		KeyTypes: []contract.KeyType{{KeyTypeRecord: contract.KeyTypeRecord{Name: "full"}}},
		Versions: []contract.Version{{Environments: []contract.Environment{{ID: "env_1", Name: "prod"}}}},
	}
	for _, noun := range []string{"tenant", "key type", "environment"} {
		if has(shop, reference{noun: noun, name: "nope"}) {
			t.Errorf("the project has a %s that it doesn't have", noun)
		}
	}
	for _, one := range []reference{
		{noun: "tenant", name: "acme"}, {noun: "key type", name: "full"}, {noun: "environment", name: "prod"},
		{noun: "environment", name: "env_1"}, {noun: "owner", name: "anyone"},
	} {
		if !has(shop, one) {
			t.Errorf("the project doesn't have %s", one)
		}
	}
}
