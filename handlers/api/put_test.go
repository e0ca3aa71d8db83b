package api_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// mayLack are the members that a PUT may leave out, with the reason, by operation and name.
var mayLack = map[string]string{
	"set-group-member role": "it adds someone to a group, and replaces no settings: a member is the usual role",
}

// putBody is what /openapi.json says of the body of a PUT.
type putBody struct {
	OperationID string
	RequestBody struct {
		Content map[string]struct{ Schema jsonSchema }
	}
}

type jsonSchema struct {
	Ref        string `json:"$ref"`
	Properties map[string]any
	Required   []string
}

// A PUT replaces settings as a whole. One that leaves a member out is refused by its name: taken for the default, it
// would switch off what its sender does not speak of, such as the validation of requests.
func TestPut_namesAllMembers(t *testing.T) {
	t.Parallel()
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	var document struct {
		Paths      map[string]struct{ Put *putBody }
		Components struct{ Schemas map[string]jsonSchema }
	}
	answer := controlplane.Call(t, server.Handler(), "GET", "/openapi.json", "", "")
	if err := json.Unmarshal([]byte(answer.Raw), &document); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		put := document.Paths[path].Put
		if put == nil {
			continue
		}
		schema := put.RequestBody.Content["application/json"].Schema
		if name, refers := strings.CutPrefix(schema.Ref, "#/components/schemas/"); refers {
			schema = document.Components.Schemas[name]
		}
		for _, member := range slices.Sorted(maps.Keys(schema.Properties)) {
			checked++
			if !slices.Contains(schema.Required, member) && mayLack[put.OperationID+" "+member] == "" {
				t.Errorf("%s (PUT %s) can leave out %s", put.OperationID, path, member)
			}
		}
	}
	if checked < 20 {
		t.Errorf("%d members", checked)
	}
}
