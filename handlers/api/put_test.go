package api_test

import (
	"slices"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// mayLack are the members that a PUT may leave out, with the reason, by operation and place. All of them are in lists,
// where what an item lacks it doesn't have.
var mayLack = map[string]string{
	"set-api-scopes /scopes/0/description": "a scope without one is undescribed",
	"set-group-mappings /mappings/0/match": "a rule without one is exact",
	"set-rules /rules/0/forget":            "a rule without one forgets no owner",
	"set-rules /rules/0/groups":            "a rule without them asks for none",
	"set-rules /rules/0/id":                "a new rule gets one",
	"set-rules /rules/0/mode":              "a rule without one has that of the list",
	"set-rules /rules/0/owner":             "a rule without one asks for none",
	"set-rules /rules/0/remember":          "a rule without one remembers no owner",
	"set-rules /rules/0/role":              "a rule without one asks for none",
	"set-rules /rules/0/scopes":            "a rule without them asks for none",
}

// A PUT replaces settings as a whole. One that leaves a member out, at any depth, is refused by its name: taken for the
// default, it would switch off what its sender does not mention, such as the validation of requests.
func TestPut_allMembers(t *testing.T) {
	t.Parallel()
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	checked, lacking := 0, map[string]bool{}
	readDocument(t, server.Handler()).bodies("put", func(id, _, path string, m member) {
		if len(m.within.Properties) == 0 {
			return // an item of a list
		}
		checked++
		at := id + " " + m.pointer()
		switch required := slices.Contains(m.within.Required, m.path[len(m.path)-1]); {
		case !required && mayLack[at] == "":
			t.Errorf("%s (PUT %s) can leave out %s", id, path, m.pointer())
		case !required:
			lacking[at] = true
		}
	})
	if checked < 60 || len(lacking) != len(mayLack) {
		t.Errorf("%d members; %v may lack", checked, lacking)
	}
}
