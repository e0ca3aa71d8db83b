package validate_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// FuzzCompile has the counters as its oracle: a schema that is accepted is within the limits, and takes as many steps
// and leaves the same unchecked again.
func FuzzCompile(f *testing.F) {
	f.Add(`{"type":"object","required":["a"],"properties":{"a":{"pattern":"(ab?){3}"}}}`)
	f.Add(`{"allOf":[{"$ref":"#/components/schemas/Order"},{"minLength":"3"}],"if":true,"then":{"enum":[1]}}`)
	f.Add(`{"patternProperties":{"(a{1,1000}){1,9}":{}},"dependentSchemas":{"a":{"not":3}},"contains":{}}`)
	f.Add(`{"anyOf":[{"pattern":"[\\pL\\PN]{9}"},{"pattern":"(?=a)"}],"required":true,"items":[{}]}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			return
		}
		for _, version := range []string{"3.0.3", "3.1.0"} {
			document := []byte(body(version, schema))
			first := openapi.NewBudget(t.Context(), openapi.Size)
			v, err := validate.CompileJSON(first, document)
			if _, refused := errors.AsType[*openapi.Error](err); refused {
				continue
			}
			if err != nil {
				t.Fatalf("%v: %s", err, document)
			}
			second := openapi.NewBudget(t.Context(), openapi.Size)
			again, err := validate.CompileJSON(second, document)
			if err != nil || !slices.Equal(v.Unchecked(), again.Unchecked()) {
				t.Errorf("%v: %q, then %q", err, v.Unchecked(), again.Unchecked())
			}
			for _, limit := range openapi.Limits() {
				if used := first.Used(limit); used > limit.Most || used != second.Used(limit) {
					t.Errorf("%d %s, then %d", used, limit.Name, second.Used(limit))
				}
			}
		}
	})
}
