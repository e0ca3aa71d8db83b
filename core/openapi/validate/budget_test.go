package validate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// read parses and compiles a document, and returns the steps that it took.
func read(ctx context.Context, document string) (steps int64, err error) {
	b := openapi.NewBudget(ctx, openapi.Size)
	doc, err := openapi.Parse(b, []byte(document))
	if err == nil {
		_, err = validate.Compile(b, doc.Tree)
	}
	return b.Used(openapi.Steps), err
}

// times returns n texts, each with its number for %[1]d and the next one for %[2]d.
func times(n int, format string) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, format, i, i+1)
	}
	return out.String()
}

func list(items string) string { return strings.TrimSuffix(items, ",") }

// Whatever a document says, reading it takes a number of steps that grows with its size.
func TestCompile_budget(t *testing.T) {
	t.Parallel()
	const schema = `#/components/schemas/`
	document := func(paths, components string) string {
		return `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{` + list(paths) + `},"components":{` +
			components + `}}`
	}
	body := func(root, schemas string) string {
		return document(`"/o":{"put":{"requestBody":{"content":{"application/json":{"schema":`+root+`}}}}}`,
			`"schemas":{`+list(schemas)+`}`)
	}
	part := `"S%[1]d":{"allOf":[{"$ref":"` + schema + `S%[2]d"}]},`
	first := `{"$ref":"` + schema + `S0"}`
	parameters := func(n int, name string) string {
		return "[" + list(times(n, `{"name":"`+name+`%[1]d","in":"query","schema":{}},`)) + "]"
	}
	for name, tt := range map[string]struct {
		document string
		most     int64  // steps
		want     string // "": accepted
	}{
		"chain": {body(first, times(5000, `"S%[1]d":{"$ref":"`+schema+`S%[2]d"},`)+`"S5000":{}`), 500_000,
			"a chain has more than 16 references"},
		"chain of 16": {body(first, times(15, `"S%[1]d":{"$ref":"`+schema+`S%[2]d"},`)+`"S15":{}`), 20_000, ""},
		"chain of 17": {body(first, times(16, `"S%[1]d":{"$ref":"`+schema+`S%[2]d"},`)+`"S16":{}`), 20_000,
			"a chain has more than 16 references"},
		"chain in what is not read": {
			strings.Replace(body(`{"allOf":[{"$ref":"#/x-a/S"}]}`, ""), `"paths"`,
				`"x-a":{"S":{"items":{"$ref":"#/x-a/S0"}},`+
					times(5000, `"S%[1]d":{"$ref":"#/x-a/S%[2]d"},`)+`"S5000":{}},`+
					`"paths"`, 1),
			500_000, "a chain has more than 16 references",
		},
		"ring": {body(first, times(500, `"S%[1]d":{"$ref":"`+schema+`S%[2]d"},`)+`"S500":`+first), 500_000,
			"or references form a cycle"},
		"ring by allOf": {body(first, times(5000, part)+`"S5000":`+first), 1_500_000, ""},
		"deep by allOf": {body(first, times(20_000, part)+`"S20000":{}`), 6_000_000, ""},
		"doubling": {body(first, times(100, `"S%[1]d":{"oneOf":[{"$ref":"`+schema+`S%[2]d"},{"$ref":"`+schema+
			`S%[2]d"}]},`)+`"S100":{}`), 50_000, ""},
		"all refer to all": {body(first, times(300, `"S%[1]d":{"anyOf":[`+list(times(300, `{"$ref":"`+schema+
			`S%[1]d"},`))+`]},`)), 5_000_000, ""},
		"to nothing": {body(first, `"S":{}`), 10_000, "doesn't resolve"},
		"YAML aliases": {"openapi: 3.1.0\ninfo: {title: t, version: '1'}\nx-a0: &a0 [[],[],[],[],[],[],[],[],[],[]]\n" +
			times(12, "x-a%[2]d: &a%[2]d [*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d,*a%[1]d]\n"), 200_000,
			"more than 20 times as large"},
		"parameters of path and operation": {document(`"/o":{"parameters":`+parameters(4000, "a")+`,"put":{`+
			`"parameters":`+parameters(4000, "b")+`}}`, ""), 2_000_000, ""},
		"parameters of a shared path": {document(times(3000, `"/%[1]d":{"$ref":"#/components/pathItems/P"},`),
			`"pathItems":{"P":{"parameters":`+parameters(3000, "a")+`,"get":{}}}`),
			openapi.Steps.Most, "more than 20,000,000 steps"},
		"a shared operation": {document(times(3000, `"/%[1]d":{"$ref":"#/components/pathItems/P"},`),
			`"pathItems":{"P":{"get":{"x-a":["`+list(times(3000, `%[1]d","`))+`"]}}}`),
			openapi.Steps.Most, "more than 20,000,000 steps"},
		"a long reference": {document(`"/o":{"put":{"requestBody":{"content":{`+list(times(100, `"a/%[1]d+json":`+
			`{"schema":{"$ref":"#/x/`+strings.Repeat("~0/", 30_000)+`%[1]d"}},`))+`}}}}`, ""),
			5_000_000, "doesn't resolve"},
		"schemas": {body(`{"anyOf":[`+list(strings.Repeat("{},", 200_000))+`]}`, ""), openapi.Steps.Most,
			"more than 64 MB of memory"},
		"values": {body(`{"enum":[`+list(strings.Repeat("0,", 1_100_000))+`]}`, ""), 1_000_000,
			"more than 1,000,000 values"},
		"values of YAML": {"openapi: 3.1.0\nx-a: [" + strings.Repeat("a,", 600_000) + "]", openapi.Steps.Most,
			"more than 1,000,000 values"},
		"operations": {document(times(10_001, `"/%[1]d":{"get":{}},`), ""), 3_000_000, "more than 10,000 operations"},
		"paths": {document(times(5000, `"/{a}x%[1]d":{"get":{}},`)+times(5000, `"/{a%[1]d}/%[1]d":{"get":{}},`), ""),
			3_000_000, ""},
		"servers": {strings.Replace(body(`{}`, ""), `"paths"`, `"servers":[`+list(times(1001, `{"url":"/%[1]d"},`))+
			`],"paths"`, 1), 200_000, "more than 1,000 servers"},
		"classes of Unicode": {body(`{"anyOf":[`+list(times(20, `{"pattern":"%[1]d[`+strings.Repeat(`\\pL\\PL`, 300)+
			`]"},`))+`]}`, ""), openapi.Steps.Most, "more than 20,000,000 steps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			steps, err := read(t.Context(), tt.document)
			refused, isRefusal := errors.AsType[*openapi.Error](err)
			if tt.want == "" && err != nil ||
				tt.want != "" && (!isRefusal || !strings.Contains(refused.Error(), tt.want)) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if steps > tt.most && !strings.Contains(tt.want, "more than 20,000,000 steps") {
				t.Errorf("%d steps, want at most %d", steps, tt.most)
			}
			t.Logf("%d steps for %d bytes", steps, len(tt.document))
		})
	}
}

// leaving is the context of a caller who leaves when the work on a document looks the second time.
type leaving struct {
	context.Context
	looked int
}

func (l *leaving) Err() error {
	if l.looked++; l.looked > 1 {
		return context.Canceled
	}
	return nil
}

// The work on a document ends with its caller.
func TestCompile_endOfCaller(t *testing.T) {
	t.Parallel()
	large := `"/o":{"put":{"requestBody":{"content":{"application/json":{"schema":{"anyOf":[` +
		list(strings.Repeat(`{"minLength":1},`, 20_000)) + `]}}}}}}`
	ctx := &leaving{Context: t.Context()}
	steps, err := read(ctx, operation("3.1.0", large))
	if !errors.Is(err, context.Canceled) || ctx.looked != 2 {
		t.Errorf("%v after %d steps and %d looks", err, steps, ctx.looked)
	}
}
