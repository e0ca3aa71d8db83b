package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// jsonSchema is the schema of a value in /openapi.json.
type jsonSchema struct {
	Ref        string                 `json:"$ref"`
	Type       any                    // a text, or several in a list
	Enum       []string               // of a text
	Properties map[string]*jsonSchema // of an object
	Required   []string
	MinLength  int
	Additional any `json:"additionalProperties"`
	Items      *jsonSchema
	OneOf      []*jsonSchema `json:"oneOf"`
}

// operation is a method of a path in /openapi.json.
type operation struct {
	OperationID string
	RequestBody *struct {
		Content map[string]struct{ Schema *jsonSchema }
	}
}

// document is /openapi.json.
type document struct {
	Paths      map[string]map[string]operation
	Components struct{ Schemas map[string]*jsonSchema }
}

func readDocument(t *testing.T, h http.Handler) (out document) {
	t.Helper()
	answer := controlplane.Call(t, h, "GET", "/openapi.json", "", "")
	if err := json.Unmarshal([]byte(answer.Raw), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// resolved returns the schema that a schema refers to, or itself.
func (d document) resolved(schema *jsonSchema) *jsonSchema {
	if name, refers := strings.CutPrefix(schema.Ref, "#/components/schemas/"); refers {
		return d.Components.Schemas[name]
	}
	return schema
}

// member is a value within the body of an operation, with its schema and that of the object that contains it.
type member struct {
	path   []string // of names; 0 is an element of a list
	choice []string // path of the outermost value of several forms, which is refused as a whole; nil: none
	schema *jsonSchema
	within *jsonSchema
}

// pointer is what errors name.
func (m member) pointer() string {
	if m.choice != nil {
		return "/" + strings.Join(m.choice, "/")
	}
	return "/" + strings.Join(m.path, "/")
}

// types returns the types that a member accepts.
func (m member) types() []string {
	several, ok := m.schema.Type.([]any)
	if !ok {
		several = []any{m.schema.Type}
	}
	var out []string
	for _, one := range several {
		if text, isText := one.(string); isText {
			out = append(out, text)
		}
	}
	return out
}

// body returns a body in which only the member is, with a value.
func (m member) body(value string) string {
	for _, name := range slices.Backward(m.path) {
		if name == "0" {
			value = "[" + value + "]"
		} else {
			value = fmt.Sprintf("{%q:%s}", name, value)
		}
	}
	return value
}

// members returns all members below a value, at every depth.
func (d document) members(of member) (out []member) {
	below := func(name string, schema *jsonSchema) {
		next := member{append(slices.Clone(of.path), name), of.choice, d.resolved(schema), of.schema}
		out = append(append(out, next), d.members(next)...)
	}
	for _, name := range slices.Sorted(maps.Keys(of.schema.Properties)) {
		below(name, of.schema.Properties[name])
	}
	if of.schema.Items != nil {
		below("0", of.schema.Items)
	}
	if values, ok := of.schema.Additional.(map[string]any); ok {
		var schema jsonSchema
		text, _ := json.Marshal(values)
		_ = json.Unmarshal(text, &schema)
		below("dev", &schema)
	}
	choice := of.choice
	if choice == nil {
		choice = of.path
	}
	for _, one := range of.schema.OneOf {
		out = append(out, d.members(member{of.path, choice, d.resolved(one), of.schema})...)
	}
	return out
}

// bodies calls f with each member of the JSON bodies of all operations with a method, of all for "".
func (d document) bodies(method string, f func(id, method, path string, m member)) {
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, at := range slices.Sorted(maps.Keys(d.Paths[path])) {
			of := d.Paths[path][at]
			if of.RequestBody == nil || method != "" && at != method {
				continue
			}
			schema := of.RequestBody.Content["application/json"].Schema
			if schema == nil {
				continue // a file
			}
			root := member{schema: d.resolved(schema)}
			for _, m := range d.members(root) {
				f(of.OperationID, strings.ToUpper(at), path, m)
			}
		}
	}
}

// A null that the document doesn't allow, and an empty text for a value or a name, are refused by the member's name:
// taken for the default, they would change members that their sender didn't mean to change.
func TestBody_nullAndEmpty(t *testing.T) {
	t.Parallel()
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	h := server.Handler()
	shop := controlplane.CreateShop(t, h)
	refused := map[string]int{} // by the value
	readDocument(t, h).bodies("", func(id, method, path string, m member) {
		try := func(value, code string) {
			refused[value]++
			body := m.body(value)
			got := controlplane.Call(t, h, method, path, shop.Token, body)
			want := m.pointer() + " " + code
			if got.Status != 422 || !slices.Contains(got.PointerCodes(), want) {
				t.Errorf("%s (%s %s) %s: %d %.300s, want 422 %s", id, method, path, body, got.Status, got.Raw, want)
			}
		}
		types := m.types()
		if (len(types) > 0 || len(m.schema.OneOf) > 0) && !slices.Contains(types, "null") {
			try("null", "invalid_type")
		}
		if slices.Contains(types, "array") && slices.Contains(types, "null") {
			t.Errorf("%s: %s may be null or an array", id, m.pointer())
		}
		if len(m.schema.Enum) > 0 {
			try(`""`, "invalid_value")
		} else if m.schema.MinLength > 0 && m.choice == nil {
			try(`""`, "required")
		}
	})
	if refused["null"] < 150 || refused[`""`] < 50 {
		t.Errorf("tried %v", refused)
	}
}
