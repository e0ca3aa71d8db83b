package validate_test

import (
	"strings"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// Numbers of the document and of the call are compared exactly, however large, small or precise they are. The first of
// the last rows are bignum and float-overflow of the JSON Schema test suite, where they are optional.
func TestBody_numbers(t *testing.T) {
	t.Parallel()
	const past53, cents = "9007199254740993", `{"multipleOf":0.01}`
	for _, tt := range []struct {
		schema, value string
		ok            bool
	}{
		{cents, `0.015`, false},
		{cents, `12345678.905`, false},
		{cents, `12345678.90`, true},
		{cents, `-0.07`, true},
		{cents, `0.0100000000000000000001`, false},
		{cents, `0e5`, true},
		{cents, `1e999999999`, true},
		{cents, `1e-999999999`, false},
		{`{"multipleOf":1}`, `1000000000.5`, false},
		{`{"multipleOf":3}`, `1e999999999`, false},
		{`{"multipleOf":3}`, `3e999999999`, true},
		{`{"multipleOf":1024}`, `1e10`, true},
		{`{"multipleOf":1024}`, `1e9`, false},
		{`{"multipleOf":123456789012345678}`, `1234567890123456780`, true},
		{`{"multipleOf":123456789012345678}`, `1234567890123456781`, false},
		{`{"multipleOf":1e2}`, `250`, false},
		{`{"multipleOf":1e999999999}`, `1e999999998`, false},
		{`{"maximum":9007199254740992}`, past53, false},
		{`{"maximum":9007199254740992.0}`, past53, false},
		{`{"maximum":9007199254740993}`, past53, true},
		{`{"minimum":9007199254740994}`, past53, false},
		{`{"exclusiveMinimum":9007199254740992}`, past53, true},
		{`{"exclusiveMinimum":9007199254740993}`, past53, false},
		{`{"exclusiveMaximum":9007199254740993}`, `9007199254740992.9999`, true},
		{`{"exclusiveMaximum":-9007199254740993}`, `-9007199254740992`, false},
		{`{"minimum":0}`, `-1e-999999999`, false},
		{`{"minimum":0}`, `-0.0`, true},
		{`{"maximum":1e999999999}`, `1e999999998`, true},
		{`{"maximum":1e999999999}`, `1e9999999999999999999999`, false},
		{`{"minimum":-5e-1}`, `-0.50`, true},
		{`{"const":9007199254740992}`, past53, false},
		{`{"const":9007199254740992}`, `9007199254740993.0`, false},
		{`{"const":1e-400}`, `0`, false},
		{`{"const":100}`, `1.00e2`, true},
		{`{"enum":[9007199254740992,0.1]}`, `9007199254740993e0`, false},
		{`{"enum":[9007199254740992,0.1]}`, `0.1000000000000000055511151231257827`, false},
		{`{"enum":[9007199254740992,0.1]}`, `1E-1`, true},
		{`{"uniqueItems":true}`, `[9007199254740992.0,9007199254740993.0]`, true},
		{`{"uniqueItems":true}`, `[1e400,1e401]`, true},
		{`{"uniqueItems":true}`, `[1e400,10e399]`, false},
		{`{"uniqueItems":true}`, `[{"a":[0.10]},{"a":[1e-1]}]`, false},
		{`{"uniqueItems":true}`, `["1:a",["a"]]`, true},
		{`{"type":"integer"}`, `1.0`, true},
		{`{"type":"integer"}`, `1.00000000000000000001`, false},
		{`{"type":"integer"}`, `1e-400`, false},
		{`{"type":"integer"}`, `1e400`, true},
		{`{"type":"integer"}`, `12e-1`, false},
		{`{"type":"integer","format":"int64"}`, `9223372036854775807.0`, true},
		{`{"type":"integer","format":"int64"}`, `9223372036854775807.5`, false},
		{`{"type":"integer","format":"int64"}`, `-9223372036854775809`, false},
		{`{"format":"int32"}`, `2147483647.0000000001`, false},
		{`{"minLength":1.00000000000000000001}`, `""`, true}, // not a whole number, so that it is not checked
		{`{"minItems":2e0}`, `[1]`, false},

		{`{"type":"integer"}`, `12345678910111213141516171819202122232425262728293031`, true},
		{`{"type":"string"}`, `98249283749234923498293171823948729348710298301928331`, false},
		{`{"maximum":18446744073709551615}`, `18446744073709551600`, true},
		{`{"exclusiveMaximum":972783798187987123879878123.18878137}`, `972783798187987123879878123.188781371`, false},
		{`{"minimum":-18446744073709551615}`, `-18446744073709551600`, true},
		{`{"exclusiveMinimum":-972783798187987123879878123.18878137}`, `-972783798187987123879878123.188781371`, false},
		{`{"type":"integer","multipleOf":0.5}`, `1e308`, true},
		{`{"type":"integer","multipleOf":0.123456789}`, `1e308`, false},
	} {
		m, _ := compile(t, body("3.1.0", tt.schema)).Find("PUT", "/o")
		work := newWork(t)
		problems := m.Body(work, "application/json", "", []byte(tt.value))
		if (len(problems) == 0) != tt.ok {
			t.Errorf("%s of %s: %q", tt.value, tt.schema, said(problems))
		}
		if work.Steps() > 400 {
			t.Errorf("%s of %s takes %d steps", tt.value, tt.schema, work.Steps())
		}
	}
}

// Numbers in parameters and in YAML are compared exactly too.
func TestHead_numbers(t *testing.T) {
	t.Parallel()
	document := "openapi: 3.1.0\ninfo: {title: t, version: '1'}\npaths:\n  /o:\n    get:\n      parameters:\n" +
		"      - {name: n, in: query, schema: {type: integer, maximum: 9007199254740992, minimum: +9007199254740991}}\n"
	b := openapi.NewBudget(t.Context(), openapi.Size)
	doc, err := openapi.Parse(b, []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	v, err := validate.Compile(b, doc.Tree)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := v.Find("GET", "/o")
	for n, want := range map[string]string{
		"9007199254740992":        "",
		"9007199254740991.0":      "",
		"9007199254740993":        "query n must be at most 9007199254740992",
		"9007199254740990":        "query n must be at least 9007199254740991",
		"9007199254740991.000001": "query n must be an integer",
	} {
		got := said(m.Head(newWork(t), "n="+n, 0, func(string) []string { return nil }))
		if got != want {
			t.Errorf("%s: %q, want %q", n, got, want)
		}
	}
	long := strings.Repeat("9", 100_000)
	m, _ = compile(t, body("3.1.0", `{"multipleOf":7,"maximum":`+long+`}`)).Find("PUT", "/o")
	work := newWork(t)
	got := said(m.Body(work, "application/json", "", []byte(long)))
	if got != "body must be a multiple of 7" || work.Steps() < len(long)/16 {
		t.Errorf("%d digits: %q after %d steps", len(long), got, work.Steps())
	}
}
