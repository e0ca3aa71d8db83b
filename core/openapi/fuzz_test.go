package openapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
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
	f.Add([]byte(`{"swagger":"2.0","produces":["a/b","c/d"],"paths":{"/a":{"post":{"parameters":[{"in":"formData",` +
		`"name":"a","type":"file"}],"responses":{"200":{"schema":{"$ref":"#/definitions/A"}}}}}},"definitions":{"A":{}}}`))
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

// exactly are limits with documents that have exactly n of what each is on. Documents for the last ones are large.
var exactly = []struct {
	limit    *openapi.Limit
	document func(n int) string
}{
	{openapi.Nesting, func(n int) string { // the document itself is a level
		return head + `"paths":{},"x-a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}"
	}},
	{openapi.References, func(n int) string {
		var chain strings.Builder
		for i := range n {
			fmt.Fprintf(&chain, `"S%d":{"$ref":"#/components/schemas/S%d"},`, i, i+1)
		}
		return head + `"paths":{},"components":{"schemas":{` + chain.String() + fmt.Sprintf(`"S%d":{}}}}`, n)
	}},
	{openapi.Servers, func(n int) string {
		return head + `"servers":[` + strings.TrimSuffix(strings.Repeat(`{"url":"/"},`, n), ",") + `]}`
	}},
	{openapi.ServerURL, func(n int) string {
		return head + `"servers":[{"url":"{a}{a}` + strings.Repeat("x", n%10) + `","variables":{"a":{"default":"` +
			strings.Repeat("x", (n-n%10)/2) + `"}}}]}`
	}},
	{openapi.Operations, func(n int) string {
		var paths strings.Builder
		for i := range n {
			fmt.Fprintf(&paths, `"/%d":{"get":{}},`, i)
		}
		return head + `"paths":{` + strings.TrimSuffix(paths.String(), ",") + `}}`
	}},
	{openapi.Values, func(n int) string { // six are not zeros
		return head + `"x-a":[` + strings.Repeat("0,", max(0, n-6)) + `0]}`
	}},
}

func testLimit(t *testing.T, kind, n int) {
	t.Helper()
	of := exactly[kind]
	_, err := openapi.Parse(openapi.NewBudget(t.Context(), openapi.Size), []byte(of.document(n)))
	if (err != nil) != (int64(n) > of.limit.Most) {
		t.Errorf("%d %s, of at most %d: %v", n, of.limit.Name, of.limit.Most, err)
	}
}

func TestLimits_exact(t *testing.T) {
	t.Parallel()
	for kind, of := range exactly {
		for n := of.limit.Most - 1; n <= of.limit.Most+1; n++ {
			testLimit(t, kind, int(n))
		}
	}
}

// FuzzLimits counts independently: a document with n of the limited things is refused if n exceeds the limit, and
// accepted otherwise.
func FuzzLimits(f *testing.F) {
	for kind := range exactly[:4] {
		f.Add(kind, int(exactly[kind].limit.Most))
	}
	f.Fuzz(func(t *testing.T, kind, n int) {
		kind = int(uint(kind) % 4)
		testLimit(t, kind, 1+int(uint(n)%uint(2*exactly[kind].limit.Most)))
	})
}
