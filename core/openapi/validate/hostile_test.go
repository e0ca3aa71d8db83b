package validate_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// Whatever the document and the request say, a check ends after a number of steps, and a request that could not
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
	const limit = "is too large or too deeply nested"
	parts := func(part string) string { return `{"allOf":[` + list(strings.Repeat(part+",", 100)) + `]}` }
	large := "{" + strings.Join(members(80_000), ",") + "}"
	for name, tt := range map[string]struct{ schemas, root, body, want string }{
		"parts that name members":      {"", parts(`{"properties":{"m1":{"type":"integer"}}}`), large, ""},
		"parts that look at members":   {"", parts(`{"patternProperties":{"^x":{"type":"string"}}}`), large, limit},
		"parts that look at names":     {"", parts(`{"propertyNames":{"minLength":1}}`), large, limit},
		"parts that forbid other ones": {"", parts(`{"additionalProperties":{"type":"integer"}}`), large, limit},
		"parts that look at a text":    {"", parts(`{"minLength":1}`), `"` + strings.Repeat("a", 950_000) + `"`, limit},
		"parts that look at a number":  {"", parts(`{"minimum":1}`), strings.Repeat("9", 950_000), limit},
		"parts that look at items": {
			"", parts(`{"uniqueItems":true}`), "[" + strings.Join(values, ",") + "]", limit,
		},

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
		"pattern on empty texts": {
			"", `{"items":{"pattern":"(?:a?){1000}(?:b?){1000}(?:c?){1000}"}}`,
			"[" + strings.Repeat(`"",`, 50_000) + `""]`, limit,
		},
		"pattern on names": {
			"", `{"patternProperties":{"(?:a?){1000}(?:b?){1000}(?:c?){1000}d":{}}}`,
			"{" + strings.Join(members(50_000), ",") + "}", limit,
		},
		"a long name": {
			"", parts(`{"properties":{"a":{}},"additionalProperties":{}}`),
			`{"` + strings.Repeat("a", 950_000) + `":1}`, limit,
		},
		"long names that the document names": {
			"", `{"items":` + parts(`{"required":["`+strings.Repeat("a", 50_000)+`"]}`) + `}`,
			"[" + strings.Repeat(`{},`, 100) + "{}]", limit,
		},
		"parts of other types": {
			"", `{"items":{"oneOf":[` + list(strings.Repeat(`{"type":["string","null"]},`, 300)) + `]}}`,
			"[" + strings.Repeat("1,", 10_000) + "1]", limit,
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
			m, ok := compile(t, document(tt.schemas, tt.root)).Find("PUT", "/o")
			if !ok {
				t.Fatal("not found")
			}
			work := newWork(t)
			got := said(m.Body(work, "application/json", "", []byte(tt.body)))
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%.200q, want %q", got, tt.want)
			}
			stopped := tt.want == limit && !strings.HasPrefix(name, "itself") // which is too deep
			if (work.Steps() > validate.MaxSteps) != stopped {
				t.Errorf("%d steps of %d", work.Steps(), validate.MaxSteps)
			}
		})
	}
}

// A form is read once, whatever its arguments are called.
func TestBody_forms(t *testing.T) {
	t.Parallel()
	form := func(n int, format string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, format, i)
		}
		return out.String()
	}
	m, _ := compile(t, operation("3.1.0", `"/o":{"put":{"requestBody":{"content":{`+
		`"application/x-www-form-urlencoded":{"schema":{"properties":{"a":{"type":"array","items":{"type":"integer"}}},`+
		`"additionalProperties":{"type":`+
		`"integer"}}}}}}}`)).Find("PUT", "/o")
	for name, tt := range map[string]struct {
		form, want string
		most       int // steps
	}{
		"1,000 names":   {form(1000, "m%d=1&"), "", 30_000},
		"1,000 values":  {form(1000, "a=%d&"), "", 30_000},
		"one too many":  {form(1001, "m%d=1&"), "body must have at most 1000 arguments", 20_000},
		"80,000 names":  {form(80_000, "m%d&"), "body must have at most 1000 arguments", 800_000},
		"80,000 values": {form(80_000, "a=%d&"), "body must have at most 1000 arguments", 900_000},
	} {
		work := newWork(t)
		got := said(m.Body(work, "application/x-www-form-urlencoded", "", []byte(tt.form)))
		if got != tt.want || work.Steps() > tt.most {
			t.Errorf("%s: %.200q, want %q; %d steps, want at most %d", name, got, tt.want, work.Steps(), tt.most)
		}
	}
}

// The validation of a call ends with its caller, and the readings of its path share the steps.
func TestBody_endOfCaller(t *testing.T) {
	t.Parallel()
	m, _ := compile(t, body("3.1.0", `{"items":{"type":"integer"}}`)).Find("PUT", "/o")
	large := []byte("[" + strings.Repeat("1,", 400_000) + "1]")
	gone := validate.NewWork(&leaving{Context: t.Context()})
	if got := said(m.Body(gone, "application/json", "", large)); !strings.Contains(got, "too large") {
		t.Errorf("the caller has left: %q after %d steps", got, gone.Steps())
	}
	shared, refused := newWork(t), 0
	for range 20 {
		if len(m.Body(shared, "application/json", "", large)) > 0 {
			refused++
		}
	}
	if refused == 0 || refused == 20 {
		t.Errorf("%d of 20 readings are refused", refused)
	}
}

// FuzzBody has the counter as its oracle: no schema and no body take more steps than a call has, but for the last one
// that is counted, and equal work counts the same.
func FuzzBody(f *testing.F) {
	f.Add(`{"type":"object","required":["a"]}`, `{"a":1}`)
	f.Add(`{"allOf":[{"uniqueItems":true},{"items":{"pattern":"^a+$"}}]}`, `["a","b","a"]`)
	f.Add(`{"not":{"propertyNames":{"maxLength":1}},"if":{"minimum":1},"else":{"enum":[{"a":[1]}]}}`, `{"a":[1]}`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		document := body("3.1.0", schema)
		b := openapi.NewBudget(t.Context(), openapi.Size)
		v, err := validate.CompileJSON(b, []byte(document))
		if steps := b.Used(openapi.Steps); steps > openapi.Steps.Most+int64(len(document))+4000*int64(len(schema)) {
			t.Errorf("%d steps to compile %q", steps, schema)
		}
		if err != nil {
			return
		}
		m, found := v.Find("PUT", "/o")
		if !found || !m.ReadsBody("application/json") {
			return // the schema ended the object that it is in
		}
		first, second := newWork(t), newWork(t)
		m.Body(first, "application/json", "", []byte(value))
		m.Body(second, "application/json", "", []byte(value))
		if first.Steps() != second.Steps() || first.Steps() > 2*validate.MaxSteps {
			t.Errorf("%d steps, then %d", first.Steps(), second.Steps())
		}
		var held int64
		const most = 100_000
		hold := func(bytes int64) bool {
			if held+bytes > most {
				return false
			}
			held += bytes
			return true
		}
		starving := newWork(t).Within(hold)
		problems := m.Body(starving, "application/json", "", []byte(value))
		if starving.Starved() && len(problems) == 0 {
			t.Errorf("%q is let through without memory", value)
		}
		if small := len(value) < 300; small && starving.Starved() {
			t.Errorf("%d bytes of memory are not enough for %q", most, value)
		}
	})
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
		{"gzip", []byte(`{}`), "body must be compressed with gzip, as Content-Encoding specifies"},
		{"gzip", pack(strings.Repeat(" ", 10*validate.MaxBody) + `{}`), "body must be at most 1 MB when unpacked"},
		{"br", []byte(`{}`), "header Content-Encoding must be gzip or absent"},
		{"identity", []byte(`{}`), ""},
	} {
		if got := said(m.Body(newWork(t), "application/json", tt.encoding, tt.body)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.encoding, got, tt.want)
		}
	}
}
