package openapi_test

import (
	"encoding/json"
	"testing"

	"postern/core/openapi"
)

// FuzzParse has the counters as its oracle: whatever is sent, what is accepted is within the limits, equal documents
// take equal steps, and what was made of YAML is JSON.
func FuzzParse(f *testing.F) {
	f.Add([]byte(head + `"paths":{"/a/{b}":{"get":{"parameters":[{"$ref":"#/components/parameters/P"}]}}},` +
		`"components":{"parameters":{"P":{"name":"b","in":"path","required":true}}}}`))
	f.Add([]byte(head + `"servers":[{"url":"https://{a}","variables":{"a":{"default":"{a}"}}}],"paths":{}}`))
	f.Add([]byte("openapi: 3.0\ninfo: {title: t, version: 1.0}\npaths:\n  /a: &a\n    get: {}\n  /b: *a\n"))
	f.Add([]byte(bomb()))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, second := openapi.NewBudget(t.Context(), openapi.Size), openapi.NewBudget(t.Context(), openapi.Size)
		doc, err := openapi.Parse(first, data)
		_, _ = openapi.Parse(second, data)
		if first.Used(openapi.Steps) != second.Used(openapi.Steps) && err == nil {
			t.Errorf("%d steps, then %d", first.Used(openapi.Steps), second.Used(openapi.Steps))
		}
		if err != nil {
			return
		}
		for _, limit := range openapi.Limits() {
			if first.Used(limit) > limit.Most {
				t.Errorf("%d %s", first.Used(limit), limit.Name)
			}
		}
		if !json.Valid(doc.JSON) || len(doc.JSON) > 21*len(data) {
			t.Errorf("%d bytes of JSON of %d bytes", len(doc.JSON), len(data))
		}
	})
}
