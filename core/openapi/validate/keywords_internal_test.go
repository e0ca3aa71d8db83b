package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"postern/core/openapi"
)

// ofOtherTypes are, for each keyword, a value that it may have and values that it may not have.
var ofOtherTypes = map[string]map[string]struct {
	right string
	wrong []string
}{
	"schema": {
		"$ref":                 {`"#/x-a"`, []string{`3`, `null`, `{}`}},
		"type":                 {`["string","null"]`, []string{`3`, `null`, `"file"`, `[]`, `["string",3]`, `{}`}},
		"nullable":             {`true`, []string{`"true"`, `1`, `null`}},
		"enum":                 {`["a"]`, []string{`{}`, `"a"`, `null`}},
		"const":                {`null`, nil},
		"minimum":              {`1`, []string{`"1"`, `true`, `null`}},
		"maximum":              {`1`, []string{`"1"`, `true`, `null`}},
		"exclusiveMinimum":     {``, []string{`"1"`, `null`, `[]`}},
		"exclusiveMaximum":     {``, []string{`"1"`, `null`, `[]`}},
		"multipleOf":           {`0.5`, []string{`0`, `-1`, `"1"`, `null`, `1234567890123456789`}},
		"minLength":            {`1.0`, []string{`"3"`, `-1`, `1.5`, `null`, `true`}},
		"maxLength":            {`1e30`, []string{`"3"`, `-1`, `1.5`, `null`, `true`}},
		"pattern":              {`"a"`, []string{`3`, `null`, `["a"]`}},
		"format":               {`"date"`, []string{`3`, `null`}},
		"minItems":             {`1`, []string{`"3"`, `-1`, `1.5`, `null`}},
		"maxItems":             {`1`, []string{`"3"`, `-1`, `1.5`, `null`}},
		"uniqueItems":          {`true`, []string{`"true"`, `1`, `null`}},
		"items":                {`{}`, []string{`[{}]`, `"string"`, `3`, `null`}},
		"prefixItems":          {`[{}]`, []string{`{}`, `[]`, `[3]`, `null`}},
		"contains":             {`{}`, []string{`[]`, `"string"`, `3`, `null`}},
		"dependentSchemas":     {`{"a":{}}`, []string{`["a"]`, `"a"`, `null`}},
		"maxContains":          {`2`, []string{`"0"`, `-1`, `null`}},
		"minContains":          {`2`, []string{`"0"`, `-1`, `null`}},
		"properties":           {`{"a":{}}`, []string{`["a"]`, `"a"`, `null`}},
		"patternProperties":    {`{"a":true}`, []string{`["a"]`, `"a"`, `null`}},
		"propertyNames":        {`true`, []string{`["a"]`, `"a"`, `null`}},
		"additionalProperties": {`true`, []string{`"false"`, `0`, `[]`, `null`}},
		"required":             {`[]`, []string{`true`, `"a"`, `["a",3]`, `{}`, `null`}},
		"readOnly":             {`true`, []string{`"true"`, `null`}},
		"minProperties":        {`1`, []string{`"3"`, `-1`, `1.5`, `null`}},
		"maxProperties":        {`1`, []string{`"3"`, `-1`, `1.5`, `null`}},
		"dependentRequired":    {`{"a":["b"]}`, []string{`{"a":"b"}`, `{"a":[3]}`, `[]`, `null`}},
		"allOf":                {`[{}]`, []string{`{}`, `[]`, `[3]`, `null`}},
		"anyOf":                {`[{}]`, []string{`{}`, `[]`, `[3]`, `null`}},
		"oneOf":                {`[{}]`, []string{`{}`, `[]`, `[3]`, `null`}},
		"not":                  {`{}`, []string{`3`, `[]`, `null`}},
		"if":                   {`{}`, []string{`3`, `[]`, `null`}},
		"then":                 {`{}`, []string{`3`, `[]`, `null`}},
		"else":                 {`{}`, []string{`3`, `[]`, `null`}},
	},
	"parameter": {
		"name": {`"p"`, nil}, "in": {`"query"`, nil}, // others are refused
		"style":           {`"form"`, []string{`3`, `null`, `"made-up"`}},
		"required":        {`false`, []string{`"true"`, `1`, `null`}},
		"allowEmptyValue": {`true`, []string{`"true"`, `1`, `null`}},
		"explode":         {`true`, []string{`"true"`, `1`, `null`}},
		"schema":          {`{}`, []string{`3`, `"string"`, `[]`, `null`}},
		"content":         {`{}`, []string{`3`, `"text/plain"`, `[]`, `null`, `{"text/plain":{}}`}},
	},
	"body": {
		"required": {`false`, []string{`"true"`, `1`, `null`}},
		"content":  {`{"application/json":{}}`, nil}, // others are refused
	},
	"media": {
		"schema": {`{}`, []string{`3`, `"string"`, `[]`, `null`}},
	},
}

// withKeyword are operations in which an object that is read has one keyword more, and the object's place.
var withKeyword = map[string]struct {
	known         map[string]keyword
	format, place string
}{
	"schema": {schemaKeywords, `{"requestBody":{"content":{"application/json":{"schema":{"properties":` +
		`{"m/n":{%q:%s}}}}}}}`, "PUT /o: body/schema/properties/m~1n"},
	"parameter": {parameterKeywords, `{"parameters":[{"name":"p","in":"query","schema":{},%q:%s}]}`, "PUT /o: query p"},
	"body":      {bodyKeywords, `{"requestBody":{"content":{"application/json":{}},%q:%s}}`, "PUT /o: body"},
	"media":     {mediaKeywords, `{"requestBody":{"content":{"application/json":{%q:%s}}}}`, "PUT /o: body"},
}

// A keyword with a value of another type is ignored, and listed with its place.
func TestRead_otherTypes(t *testing.T) {
	t.Parallel()
	for object, with := range withKeyword {
		for name, is := range with.known {
			tt, there := ofOtherTypes[object][name]
			if !there {
				t.Errorf("nothing tests %s of a %s", name, object)
			}
			test := func(version string, must shape, value string, want int) {
				v := compiled(t, version, fmt.Sprintf(with.format, name, value))
				got := slices.DeleteFunc(v.Unchecked(), func(one Unchecked) bool {
					return one.At != with.place
				})
				if must.fits == nil {
					want = 1 // the version does not have the keyword
				}
				if len(got) != want {
					t.Errorf("%s: %s: %s of a %s: %q, want %d", version, name, value, object, got, want)
				}
				if want == 1 {
					acceptsAll(t, v, version+": "+name+": "+value)
				}
			}
			for _, value := range tt.wrong {
				test("3.0.3", is.old, value, 1)
				test("3.1.0", is.modern, value, 1)
			}
			test("3.0.3", is.old, cmp.Or(tt.right, "true"), 0)
			test("3.1.0", is.modern, cmp.Or(tt.right, "1"), 0)
		}
	}
}

func compiled(t testing.TB, version, operation string) *Validator {
	t.Helper()
	document := `{"openapi":"` + version + `","info":{"title":"t","version":"1"},"x-a":{},"paths":{"/o":{"put":` +
		operation + `}}}`
	v, err := CompileJSON(openapi.NewBudget(t.Context(), openapi.Size), []byte(document))
	if err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	return v
}

func acceptsAll(t testing.TB, v *Validator, what string) {
	t.Helper()
	m, _ := v.Find("PUT", "/o")
	problems := m.Head(NewWork(t.Context()), "?p=x", 9, func(string) []string { return []string{"application/json"} })
	for _, value := range []string{`"x"`, `[1, 1]`, `[]`, `{}`, `{"a":1}`, `-5`, `0.3`, `null`} {
		if m.body != nil {
			body := []byte(`{"m/n":` + value + `}`)
			problems = append(problems, m.Body(NewWork(t.Context()), "application/json", "", body)...)
		}
	}
	if len(problems) > 0 {
		t.Errorf("%s: %v", what, problems)
	}
}

// Places lead to what is referred to, are short, and say when they are not all.
func TestUnchecked_places(t *testing.T) {
	t.Parallel()
	long, bad := strings.Repeat("n/", 200), strings.Repeat(`{"minLength":"3"},`, maxUnchecked)
	document := `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/o":{"put":{"requestBody":{` +
		`"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S"}}}}}}},` +
		`"components":{"schemas":{"S":{"properties":{"a":{"required":true},"` + long + `":{"required":true}},` +
		`"anyOf":[` + strings.TrimSuffix(bad, ",") + `]}}}}`
	v, err := CompileJSON(openapi.NewBudget(t.Context(), openapi.Size), []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	got := v.Unchecked()
	if len(got) != maxUnchecked+1 || !strings.Contains(got[maxUnchecked].Reason, "Only the first 200 unchecked parts") {
		t.Errorf("%d: %q", len(got), got[len(got)-1])
	}
	want := Unchecked{"#/components/schemas/S/properties/a", "required isn't checked: it must be a list of strings."}
	if !slices.Contains(got, want) {
		t.Errorf("no %q in %q", want, got)
	}
	for _, one := range got {
		if len(one.At) > maxPlace {
			t.Errorf("%d bytes: %s", len(one.At), one.At)
		}
	}
}
