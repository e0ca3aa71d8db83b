package validate_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"
	"time"

	"postern/core/openapi/validate"
)

// Whatever the document and the request say, a check ends within a second, and a request that could not
// be checked is one with a problem.
func TestBody_hostile(t *testing.T) {
	t.Parallel()
	doubling := func(how string) string {
		var out strings.Builder
		for i := range 40 {
			fmt.Fprintf(&out, `"S%d":{"%s":[{"$ref":"#/components/schemas/S%d"},{"$ref":"#/components/schemas/S%d"}]},`,
				i, how, i+1, i+1)
		}
		return out.String() + `"S40":{"type":"integer"}`
	}
	document := func(schemas, root string) string {
		return `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/o":{"put":{"requestBody":{"content":` +
			`{"application/json":{"schema":` + root + `}}}}}},"components":{"schemas":{` + schemas + `}}}`
	}
	values := make([]string, 50_000)
	for i := range values {
		values[i] = fmt.Sprintf(`"v%d"`, i)
	}
	const limit = "is too large or nested too deep"
	for name, tt := range map[string]struct{ schemas, root, body, want string }{
		"itself by allOf": {
			`"A":{"allOf":[{"$ref":"#/components/schemas/A"}]}`, `{"$ref":"#/components/schemas/A"}`, `1`, limit,
		},
		"itself by not": {
			`"A":{"not":{"$ref":"#/components/schemas/A"}}`, `{"$ref":"#/components/schemas/A"}`, `1`, limit,
		},
		"doubling by oneOf": {doubling("oneOf"), `{"$ref":"#/components/schemas/S0"}`, `"x"`, limit},
		"doubling by anyOf": {doubling("anyOf"), `{"$ref":"#/components/schemas/S0"}`, `"x"`, limit},
		"recursive tree": {`"T":{"type":"object","properties":{"t":{"$ref":"#/components/schemas/T"}}}`,
			`{"$ref":"#/components/schemas/T"}`, strings.Repeat(`{"t":`, 150) + "1" + strings.Repeat("}", 150),
			"must be an object"},
		"large enum": {
			"", `{"enum":[` + strings.Join(values, ",") + `]}`, `"v"`, "one of the values that the document lists",
		},
		"large enum of many": {
			"", `{"items":{"enum":[` + strings.Join(values, ",") + `]}}`, "[" + strings.Join(values, ",") + "]", "",
		},
		"backtracking pattern": {
			"", `{"pattern":"^(a+)+$"}`, `"` + strings.Repeat("a", 100_000) + `!"`, "must match the pattern",
		},
		"expensive pattern": {
			"", `{"pattern":"(a{0,30}b?){1,30}c"}`, `"` + strings.Repeat("a", 1_000_000) + `"`, limit,
		},
		"pattern of many repeats": {
			"", `{"pattern":"((a{1,100}){1,100}){1,100}"}`, `"` + strings.Repeat("a", 10_000) + `"`, "",
		},
		"unique items": {"", `{"uniqueItems":true}`, "[" + strings.Join(values, ",") + "]", ""},
		"many items":   {"", `{"items":{"type":"integer"}}`, "[" + strings.Repeat("1,", 500_000) + "1]", ""},
		"many members": {
			"", `{"additionalProperties":{"type":"string"}}`, "{" + strings.Join(members(80_000), ",") + "}",
			"body /* must be a string",
		},
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			m, ok := compile(t, document(tt.schemas, tt.root)).Find("PUT", "/o")
			if !ok {
				t.Fatal("not found")
			}
			compiled := time.Since(began)
			began = time.Now()
			got := said(m.Body("application/json", "", []byte(tt.body)))
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%.200q, want %q", got, tt.want)
			}
			if took := time.Since(began); took > 5*time.Second || compiled > 5*time.Second {
				t.Errorf("compiled in %v, checked in %v", compiled, took)
			} else {
				t.Logf("compiled in %v, checked in %v", compiled, took)
			}
		})
	}
}

func members(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(`"m%d":%d`, i, i)
	}
	return out
}

func TestBody_encodings(t *testing.T) {
	t.Parallel()
	m, _ := compile(t, body("3.0.3", `{"type":"object"}`)).Find("PUT", "/o")
	pack := func(text string) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		return out.Bytes()
	}
	for _, tt := range []struct {
		encoding string
		body     []byte
		want     string
	}{
		{"gzip", pack(`{}`), ""},
		{"GZIP", pack(`[]`), "body must be an object"},
		{"gzip", []byte(`{}`), "body must be compressed by gzip, as Content-Encoding says"},
		{"gzip", pack(strings.Repeat(" ", 10*validate.MaxBody) + `{}`), "body must have at most 1 MB unpacked"},
		{"br", []byte(`{}`), "body must not be compressed otherwise than by gzip"},
		{"identity", []byte(`{}`), ""},
	} {
		if got := said(m.Body("application/json", tt.encoding, tt.body)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.encoding, got, tt.want)
		}
	}
}
