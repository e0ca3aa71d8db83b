package validate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// anonymous reads and compiles a document as one that anyone may send, and returns what it took.
func anonymous(t *testing.T, document string) (*openapi.Budget, error) {
	t.Helper()
	b := openapi.NewBudget(t.Context(), openapi.UnclaimedSize)
	doc, err := openapi.Parse(b, []byte(document))
	if err == nil {
		_, err = validate.Compile(b, doc.Tree)
	}
	return b, err
}

// Parts that a reference, or the document as a whole, has every operation read again are counted each time: the product
// of two parts of a document can be 10,000 times its size, and the limits end it. A part that is read once takes steps
// in proportion to its size.
func TestCompile_workCount(t *testing.T) {
	t.Parallel()
	const (
		n       = 2000   // entries that are read
		m       = 200    // by each of that many operations
		size    = 40_000 // bytes of a text that is read
		least   = n * m
		ofTexts = size * m / 16
	)
	many := func(item string) string { return list(strings.Repeat(item+",", n)) }
	long := strings.Repeat("A", size)
	object := func(member string) string { return "{" + list(times(n, member+",")) + "}" }
	modern := func(root, paths string) string {
		return `{"openapi":"3.1.0","info":{"title":"t","version":"1"},` + root + `"paths":{` + list(paths) + `}}`
	}
	swagger := func(root, paths string) string {
		return `{"swagger":"2.0","info":{"title":"t","version":"1"},` + root + `"paths":{` + list(paths) + `}}`
	}
	bodies := func(shared string) string {
		return modern(`"x-a":`+shared+`,`, times(m, `"/%[1]d":{"put":{"requestBody":{"$ref":"#/x-a"}}},`))
	}
	types := func(content string) string { return bodies(`{"content":` + content + `}`) }
	schemas := func(schema string) string { return types(`{"application/json":{"schema":` + schema + `}}`) }
	parameters := func(members string) string {
		return modern(`"x-a":{"name":"a","in":"query",`+members+`},`,
			times(m, `"/%[1]d":{"put":{"parameters":[{"$ref":"#/x-a"}]}},`))
	}
	paths := func(root, item string) string {
		return modern(root+`"x-a":{`+item+`},`, times(m, `"/%[1]d":{"$ref":"#/x-a"},`))
	}
	operations := func(root, operation string) string {
		return modern(root, times(m, `"/%[1]d":{"put":`+operation+`},`))
	}
	answers := times(m, `"/%[1]d":{"get":{"responses":{"200":{"schema":{}}}}},`)
	field := func(name string) string {
		return list(times(n, `{"name":"`+name+`%[1]d","in":"formData","type":"string"},`))
	}
	forms := func(path, own string) string {
		return swagger("", `"/a":{"parameters":[`+path+`],"put":{"parameters":[`+own+`]}},`)
	}
	const memory, expansion = "of memory", "larger than 1 MB"
	for name, tt := range map[string]struct {
		document string
		least    int // steps; 0: at most 15 for each byte
		refused  string
	}{
		"types of a body":      {types(object(`"%[1]d":null`)), least, memory},
		"JSON types of a body": {types(object(`"%[1]d+json":{}`)), least, memory},
		"the same type":        {types(object(`"a/b;%[1]d":null`)), least, ""},
		"a long type":          {types(`{"` + long + `":{}}`), ofTexts, ""},
		"kept types":           {types(object(`"application/of-a-longer-name-%[1]d":null`)), least, memory},
		"encoding":             {types(`{"a/b+json":{"encoding":` + object(`"%[1]d":1`) + `}}`), least, ""},
		"required":             {schemas(`{"required":[` + many(`"a"`) + `]}`), least, ""},
		"required of a number": {schemas(`{"required":[` + many(`"a"`) + `,1]}`), least, ""},
		"types":                {schemas(`{"type":[` + many(`"string"`) + `]}`), least, ""},
		"types and none":       {schemas(`{"type":[` + many(`"string"`) + `,"x"]}`), least, ""},
		"schemas of anything":  {schemas(`{"allOf":[` + many(`true`) + `]}`), least, ""},
		"what depends":         {schemas(`{"dependentRequired":{"a":[` + many(`"b"`) + `,1]}}`), least, ""},
		"properties":           {schemas(`{"properties":` + object(`"%[1]d":true`) + `}`), least, memory},
		"unknown keywords":     {schemas(object(`"x-%[1]d":1`)), least, ""},
		"a long pattern":       {schemas(`{"pattern":"` + long + `"}`), ofTexts, ""},
		"a long const":         {schemas(`{"const":{"` + long + `":1}}`), ofTexts, ""},
		"numbers of an enum":   {schemas(`{"enum":[[` + many(`1e308`) + `]]}`), least, ""},
		"a const of an enum": {
			schemas(`{"enum":[` + many(`1`) + `],"const":"` + long + `"}`), least, "",
		},
		"members of a parameter":   {parameters(`"x-b":1,"` + long + `":1`), ofTexts, ""},
		"type of a parameter":      {parameters(`"content":{"` + long + `":{}}`), ofTexts, ""},
		"parameters within a path": {modern("", `"/`+strings.Repeat("{a}x", 100_000)+`":{"put":{}},`), 0, memory},
		"security":                 {operations(`"security":[`+many("1")+`],`, `{}`), least, ""},
		"scopes":                   {operations(`"security":[{"a":[`+many(`"b"`)+`]}],`, `{}`), least, ""},
		"answers": {
			operations(`"x-a":{"content":{"application/json":{"schema":{"allOf":[`+many(`{}`)+`]}}}},`,
				`{"responses":{"200":{"$ref":"#/x-a"}}}`), least, "",
		},
		"servers of paths": {
			paths(`"servers":[`+list(times(900, `{"url":"/a%[1]d"},`))+`],`,
				`"servers":[`+list(times(900, `{"url":"/b%[1]d"},`))+`]`), 900 * m, "",
		},
		"invalid servers":   {paths("", `"servers":[`+list(strings.Repeat("1,", 900))+`]`), 900 * m, ""},
		"members of a path": {paths("", list(times(n, `"x-%[1]d":1,`))), least, ""},
		"produces": {
			swagger(`"produces":[`+list(times(n, `"a%[1]d",`))+`],`, answers), 0, expansion,
		},
		"a long type that all produce": {swagger(`"produces":["`+long+`"],`, answers), 0, expansion},
		"consumes of forms": {
			swagger(`"consumes":[`+list(times(n, `"%[1]d",`))+`],`,
				times(m, `"/%[1]d":{"put":{"parameters":[{"name":"a","in":"formData","type":"string"}]}},`)), least, "",
		},
		"produces of an operation": {
			swagger("", `"/a":{"get":{"produces":[`+many(`1`)+`],"responses":`+object(`"%[1]d":{"schema":{}}`)+`}},`),
			0, "",
		},
		"fields of forms":          {forms(field("a"), field("b")), 0, ""},
		"fields that are replaced": {forms(field("a"), field("a")), 0, ""},
		"fields that are twice":    {forms("", field("a")+","+field("a")), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := anonymous(t, tt.document)
			used := fmt.Sprintf("%d steps and %d bytes of memory for %d bytes", b.Used(openapi.Steps),
				b.Used(openapi.Memory), len(tt.document))
			refused, isRefusal := errors.AsType[*openapi.Error](err)
			switch {
			case isRefusal && tt.refused != "" && strings.Contains(refused.Error(), tt.refused):
			case err != nil || tt.refused != "":
				t.Errorf("%.300v, want %q: %s", err, tt.refused, used)
			case tt.least == 0 && b.Used(openapi.Steps) > int64(15*len(tt.document)):
				t.Errorf("%s, want at most 15 steps for each byte", used)
			case b.Used(openapi.Steps) < int64(tt.least):
				t.Errorf("%s, want at least %d steps", used, tt.least)
			}
		})
	}
}

// The values of an enum are compared by a text, which takes about a microsecond to make of a small object.
func TestCompile_enumCount(t *testing.T) {
	t.Parallel()
	const n = 100_000
	text := body("3.1.0", `{"enum":[`+list(times(n, `{"a":%[1]d},`))+`]}`)
	b := openapi.NewBudget(t.Context(), openapi.Size)
	doc, err := openapi.Parse(b, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	parsed := b.Used(openapi.Steps)
	if _, err := validate.Compile(b, doc.Tree); err != nil {
		t.Fatal(err)
	}
	if steps := b.Used(openapi.Steps) - parsed; steps < 8*n {
		t.Errorf("%d steps for %d values, want at least 8 each", steps, n)
	}
}
