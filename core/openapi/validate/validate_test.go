package validate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// operation is a document with one operation.
func operation(version, at string) string {
	return `{"openapi":"` + version + `","info":{"title":"t","version":"1"},"paths":{` + at + `},` +
		`"components":{"schemas":{"Order":{"type":"object","required":["price"],"properties":{` +
		`"id":{"type":"string","readOnly":true},"price":{"type":"number","minimum":0},` +
		`"parent":{"$ref":"#/components/schemas/Order"}}}}}}`
}

// body is an operation PUT /o whose body has a schema.
func body(version, schema string) string {
	return operation(version, `"/o":{"put":{"requestBody":{"required":true,"content":{"application/json":{"schema":`+
		schema+`}}}}}`)
}

func compile(t testing.TB, document string) *validate.Validator {
	t.Helper()
	if !json.Valid([]byte(document)) {
		t.Fatalf("no JSON: %s", document)
	}
	v, err := validate.CompileJSON(openapi.NewBudget(t.Context(), openapi.Size), []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func newWork(t testing.TB) *validate.Work { return validate.NewWork(t.Context()) }

func said(problems []validate.Problem) string {
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return strings.Join(out, "; ")
}

func TestBody(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ schema, value, want string }{
		{`{"$ref":"#/components/schemas/Order"}`, `{"price":1,"parent":{"price":2.5}}`, ""},
		{`{"$ref":"#/components/schemas/Order"}`, `{"parent":{"price":-1}}`,
			"body /price is required; body /parent/price must be at least 0"},
		{`{"$ref":"#/components/schemas/Order"}`, `[]`, "body must be an object"},
		{`{"type":"object","required":["a"],"properties":{"a":{"readOnly":true}}}`, `{}`, ""},
		{`{"type":"integer"}`, `1.0`, ""},
		{`{"contains":true}`, `[]`, "body must have at least 1 item matching the document"},
		{`{"contains":true}`, `["x"]`, ""},
		{`{"contains":false}`, `["x"]`, "body must have at least 1 item matching the document"},
		{`{"contains":{"type":"integer"},"minContains":0}`, `["x"]`, ""},
		{`{"contains":{"type":"integer"},"minContains":2}`, `["x",1]`,
			"body must have at least 2 items matching the document"},
		{`{"contains":{"type":"integer"},"maxContains":1}`, `[1,"x",2]`,
			"body must have at most 1 item matching the document"},
		{`{"type":"integer"}`, `1.5`, "body must be an integer"},
		{`{"type":"integer","format":"int32"}`, `3000000000`, "body must fit in 32 bits"},
		{`{"type":"integer","format":"int64"}`, `9223372036854775807`, ""},
		{`{"type":"integer","format":"int64"}`, `9223372036854775808`, "body must fit in 64 bits"},
		{`{"type":"number","multipleOf":0.01}`, `19.99`, ""},
		{`{"type":"number","multipleOf":0.01}`, `19.999`, "body must be a multiple of 0.01"},
		{`{"type":"number","maximum":5}`, `1e400`, "body must be at most 5"},
		{`{"type":"string","minLength":2,"maxLength":3}`, `"äöü"`, ""},
		{`{"type":"string","minLength":2,"maxLength":3}`, `"a"`, "body must have at least 2 characters"},
		{`{"type":"string","maxLength":1}`, `"ab"`, "body must have at most 1 character"},
		{`{"type":"string","pattern":"^[A-Z\\u00c4]+$"}`, `"Ä"`, ""},
		{`{"type":"string","pattern":"^[A-Z]+$"}`, `"secret"`, "body must match the pattern in the document"},
		{`{"type":"string","pattern":"^(?!a)"}`, `"abc"`, ""},
		{`{"type":"string","format":"date"}`, `"2026-02-30"`, "body must be in the format date"},
		{`{"type":"string","format":"date-time"}`, `"2026-02-03T04:05:06Z"`, ""},
		{`{"type":"string","format":"date-time"}`, `"2016-12-31T23:59:60Z"`, ""},
		{`{"type":"string","format":"date-time"}`, `"2016-12-31t15:59:60.5-08:00"`, ""},
		{`{"type":"string","format":"date-time"}`, `"2016-12-31T23:58:60Z"`, "body must be in the format date-time"},
		{`{"type":"string","format":"date-time"}`, `"2016-12-31T23:59:61Z"`, "body must be in the format date-time"},
		{`{"type":"string","format":"uuid"}`, `"1"`, "body must be in the format uuid"},
		{`{"type":"string","format":"ipv4"}`, `"::1"`, "body must be in the format ipv4"},
		{`{"type":"string","format":"made-up"}`, `"x"`, ""},
		{`{"enum":["a",1,null,{"b":1}]}`, `{"b":1.0}`, ""},
		{`{"enum":["a",1]}`, `"secret"`, `body must be one of "a", 1`},
		{`{"type":"array","items":{"type":"integer"},"maxItems":2,"uniqueItems":true}`, `[1,1.0]`,
			"body must not contain the same item twice"},
		{`{"type":"array","items":{"type":"integer"}}`, `[1,"x"]`, "body /1 must be an integer"},
		{`{"type":"array","maxItems":1}`, `[1,2]`, "body must have at most 1 item"},
		{
			`{"type":"object","additionalProperties":false}`, `{"secret":1}`,
			"body has a member that the document doesn't allow",
		},
		{`{"type":"object","additionalProperties":{"type":"string"}}`, `{"secret":1}`, "body /* must be a string"},
		{`{"type":"object","minProperties":1}`, `{}`, "body must have at least 1 member"},
		{`{"type":"object","properties":{"a/b":{"type":"string"}}}`, `{"a/b":1}`, "body /a~1b must be a string"},
		{
			`{"oneOf":[{"type":"string"},{"type":"integer"}]}`, `true`,
			"body must match one of the 2 descriptions in the document",
		},
		{
			`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1`,
			"body must match only one of the 2 descriptions in the document",
		},
		{`{"anyOf":[{"type":"number"},{"type":"integer"}]}`, `1`, ""},
		{`{"allOf":[{"required":["a"]},{"required":["b"]}]}`, `{}`, "body /a is required; body /b is required"},
		{`{"not":{"type":"string"}}`, `"x"`, "body must not be a value that the document excludes"},
		{`{"type":"object"}`, `{"a":1,"a":2}`, "body contains the same member twice"},
		{`{"type":"object"}`, `{"a":1} {}`, "body must be one JSON value"},
		{`{"type":"object"}`, `{"a":`, "body must be JSON"},
		{`{"type":"object"}`, "{\"a\":\"\xff\"}", "body must be JSON in UTF-8"},
		{`{}`, strings.Repeat("[", 300) + strings.Repeat("]", 300),
			"body must not be nested more than 200 levels deep"},
		{`{"type":"object"}`, "", "body is required"},
	} {
		t.Run(tt.schema+" "+tt.value[:min(len(tt.value), 40)], func(t *testing.T) {
			t.Parallel()
			for _, version := range []string{"3.0.3", "3.1.0"} {
				m, ok := compile(t, body(version, tt.schema)).Find("PUT", "/o")
				if !ok {
					t.Fatal("not found")
				}
				if got := said(m.Body(newWork(t), "application/json", "", []byte(tt.value))); got != tt.want {
					t.Errorf("%s: %q, want %q", version, got, tt.want)
				}
			}
		})
	}
}

func TestBody_dialects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ version, schema, value, want string }{
		{"3.0.3", `{"type":"string","nullable":true}`, `null`, ""},
		{"3.0.3", `{"type":"number","minimum":1,"exclusiveMinimum":true}`, `1`, "body must be more than 1"},
		{"3.0.3", `{"$ref":"#/components/schemas/Order","maxProperties":0}`, `{"price":1}`, ""},
		{
			"3.1.0", `{"$ref":"#/components/schemas/Order","maxProperties":0}`, `{"price":1}`,
			"body must have at most 0 members",
		},
		{"3.1.0", `{"type":["string","null"]}`, `null`, ""},
		{"3.1.0", `{"type":["string","null"]}`, `1`, "body must be a string or null"},
		{"3.1.0", `{"exclusiveMaximum":1}`, `1`, "body must be less than 1"},
		{"3.1.0", `{"const":"a"}`, `"b"`, `body must be one of "a"`},
		{"3.1.0", `{"prefixItems":[{"type":"string"}],"items":false}`, `["a",1]`, "body /1 is not allowed"},
		{"3.1.0", `{"contains":{"type":"string"}}`, `[1]`,
			"body must have at least 1 item matching the document"},
		{"3.1.0", `{"if":true,"then":{"type":"integer"}}`, `"x"`, "body must be an integer"},
		{"3.1.0", `{"if":false,"else":{"type":"integer"}}`, `"x"`, "body must be an integer"},
		{"3.1.0", `{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1}`, "body /b is required"},
		{"3.1.0", `{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"c":1}`, ""},
		{"3.1.0", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, "body must have b, because it has a"},
		{"3.1.0", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`,
			"body /b is required"},
		{"3.1.0", `{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}`, `{"x-a":1}`,
			"body /* must be a string"},
		{
			"3.1.0", `{"propertyNames":{"maxLength":1}}`, `{"secret":1}`,
			"body has a member whose name the document doesn't allow",
		},
	} {
		m, _ := compile(t, body(tt.version, tt.schema)).Find("PUT", "/o")
		if got := said(m.Body(newWork(t), "application/json; charset=utf-8", "", []byte(tt.value))); got != tt.want {
			t.Errorf("%s %s: %s is %q, want %q", tt.version, tt.schema, tt.value, got, tt.want)
		}
	}
}

const listing = `"/orders/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
	"get":{"parameters":[
		{"name":"limit","in":"query","schema":{"type":"integer","maximum":100}},
		{"name":"sort","in":"query","required":true,"schema":{"type":"string","enum":["asc","desc"]}},
		{"name":"tags","in":"query","schema":{"type":"array","items":{"type":"integer"}}},
		{"name":"ids","in":"query","explode":false,"schema":{"type":"array","maxItems":2,"items":{"type":"string"}}},
		{"name":"flag","in":"query","allowEmptyValue":true,"schema":{"type":"boolean"}},
		{"name":"filter","in":"query","style":"deepObject",
			"schema":{"type":"object","properties":{"age":{"type":"integer"}}}},
		{"name":"where","in":"query","content":{"application/json":{"schema":{"type":"object"}}}},
		{"name":"any","in":"query","schema":{"anyOf":[{"type":"integer","maximum":5},{"type":"string","maxLength":1}]}},
		{"name":"X-Trace","in":"header","schema":{"type":"string","format":"uuid"}},
		{"name":"X-Parts","in":"header","schema":{"type":"array","items":{"type":"integer"}}},
		{"name":"Authorization","in":"header","required":true,"schema":{"type":"string"}}]}},
	"/orders/new":{"get":{"responses":{}},"post":{"requestBody":{"required":true,"content":{"application/json":{}}}}},
	"/files/{name}.{type}":{"get":{"parameters":[
		{"name":"type","in":"path","required":true,"schema":{"enum":["pdf"]}}]}}`

func TestHead(t *testing.T) {
	t.Parallel()
	v := compile(t, operation("3.0.3", listing))
	for _, tt := range []struct{ method, target, header, want string }{
		{"GET", "/orders/7?sort=asc", "", ""},
		{"GET", "/orders/7/?sort=asc", "", ""},
		{"GET", "/orders/7%0a?sort=asc", "", "path id must be an integer"},
		{"GET", "/orders/7%20?sort=asc", "", "path id must be an integer"},
		{"GET", "/orders/%097?sort=asc&limit=%0D5", "", "path id must be an integer; query limit must be an integer"},
		{"GET", "/orders/7?sort=asc&limit=5%20", "", "query limit must be an integer"},
		{"HEAD", "/orders/x", "", "path id must be an integer; query sort is required"},
		{"GET", "/orders/%37?sort=asc&limit=5&tags=1&tags=2&ids=a,b&flag=&other=1", "", ""},
		{"GET", "/orders/7?sort=asc&limit=secret", "", "query limit must be an integer"},
		{"GET", "/orders/7?sort=asc&limit=101", "", "query limit must be at most 100"},
		{"GET", "/orders/7?sort=asc&limit=5&limit=secret", "", "query limit must appear once"},
		{"GET", "/orders/7?sort=secret", "", `query sort must be one of "asc", "desc"`},
		{"GET", "/orders/7?sort=asc&tags=1&tags=x", "", "query tags.1 must be an integer"},
		{"GET", "/orders/7?sort=asc&ids=a,b,c", "", "query ids must have at most 2 items"},
		{"GET", "/orders/7?sort=asc&filter[age]=x", "", "query filter.age must be an integer"},
		{"GET", "/orders/7?sort=asc&where=%7B%7D", "", ""},
		{"GET", "/orders/7?sort=asc&where=1", "", "query where must be an object"},
		{"GET", "/orders/7?sort=asc&where=%7B", "", "query where must be JSON"},
		{"GET", "/orders/7?sort=asc&any=9", "", ""},
		{"GET", "/orders/7?sort=asc&any=99", "", "query any must match one of the 2 descriptions in the document"},
		{"GET", "/orders/7?sort=asc", "X-Trace: secret", "header X-Trace must be in the format uuid"},
		{"GET", "/orders/7?sort=asc", "X-Parts: 1, 2", ""},
		{"GET", "/orders/7?sort=asc", "X-Parts: 1, x", "header X-Parts.1 must be an integer"},
		{"GET", "/orders/new", "", ""},
		{"POST", "/orders/new", "", "body is required"},
		{"GET", "/files/a.b.pdf", "", `path type must be one of "pdf"`},
		{"GET", "/files/a.pdf", "", ""},
	} {
		path, query, _ := strings.Cut(tt.target, "?")
		m, ok := v.Find(tt.method, path)
		if !ok {
			t.Errorf("%s %s: not found", tt.method, tt.target)
			continue
		}
		header := http.Header{}
		if name, value, ok := strings.Cut(tt.header, ": "); ok {
			header.Set(name, value)
		}
		if got := said(m.Head(newWork(t), "?"+query, 0, header.Values)); got != tt.want {
			t.Errorf("%s %s %s: %q, want %q", tt.method, tt.target, tt.header, got, tt.want)
		}
	}
	for _, target := range []string{"GET /", "GET /orders", "DELETE /orders/7", "GET /orders/7/x", "GET /files/pdf"} {
		method, path, _ := strings.Cut(target, " ")
		if m, ok := v.Find(method, path); ok {
			t.Errorf("%s is %s, want none", target, m.Name)
		}
	}
}

// Paths that differ only in the names of parameters are one, whose methods have their own names.
func TestHead_sharedPaths(t *testing.T) {
	t.Parallel()
	one := func(method, name, kind string) string {
		return `{"` + method + `":{"parameters":[{"name":"` + name + `","in":"path","required":true,"schema":` +
			`{"type":"` + kind + `"}}]}}`
	}
	v := compile(t, operation("3.1.0", `"/a/{id}":`+one("get", "id", "integer")+
		`,"/a/{key}":`+one("delete", "key", "boolean")+`,"/a/{name}":`+one("head", "name", "null")+
		`,"/a/{x}/b":`+one("get", "x", "integer")+`,"/a/{y}/b":`+one("put", "y", "boolean")))
	for target, want := range map[string]string{
		"GET /a/x": "path id must be an integer", "DELETE /a/x": "path key must be a boolean",
		"HEAD /a/x": "path name must be null", "GET /a/x/b": "path x must be an integer",
		"HEAD /a/x/b": "path x must be an integer", "PUT /a/x/b": "path y must be a boolean",
		"GET /a/1": "", "DELETE /a/true": "", "PUT /a/true/b": "",
	} {
		method, path, _ := strings.Cut(target, " ")
		m, ok := v.Find(method, path)
		if !ok {
			t.Errorf("%s is not found", target)
			continue
		}
		if got := said(m.Path(newWork(t))); got != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

// If two paths are alike, a call has to match one of them.
func TestEither(t *testing.T) {
	t.Parallel()
	one := func(kind, media string) string {
		return `{"post":{"parameters":[{"name":"p","in":"path","required":true,"schema":{"type":"` + kind + `"}}],` +
			`"requestBody":{"content":{"` + media + `":{"schema":{"type":"object"}}}}}}`
	}
	v := compile(t, operation("3.1.0", `"/a/{p}":`+one("integer", "application/json")+
		`,"/a/{q}":`+strings.Replace(one("boolean", "text/json"), `"name":"p"`, `"name":"q"`, 1)))
	for _, tt := range []struct{ path, media, body, head, want string }{
		{"/a/1", "application/json", "{}", "", ""},
		{"/a/true", "text/json", "{}", "", ""},
		{"/a/x", "text/json", "{}",
			"path p must be an integer; header Content-Type must be one of application/json", ""},
		{"/a/1", "application/json", "[]", "", "body must be an object"},
		{"/a/true", "text/json", "[]", "", "header Content-Type must be a content type from the document"},
	} {
		m, ok := v.Find("POST", tt.path)
		if !ok || !m.ReadsBody(tt.media) {
			t.Fatalf("%s %s is not checked", tt.path, tt.media)
		}
		head := said(m.Head(newWork(t), "", 2, func(string) []string { return []string{tt.media} }))
		body := said(m.Body(newWork(t), tt.media, "", []byte(tt.body)))
		if head != tt.head || body != tt.want {
			t.Errorf("%s %s %s: %q, want %q; %q, want %q", tt.path, tt.media, tt.body, head, tt.head, body, tt.want)
		}
	}
}

func TestContentTypes(t *testing.T) {
	t.Parallel()
	v := compile(t,
		operation("3.0.3", `"/o":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object"}},
		"application/x-www-form-urlencoded":{"schema":{"type":"object","required":["n"],
			"properties":{"n":{"type":"integer"},
		"l":{"type":"array","items":{"type":"integer"}}}}},"image/*":{}}}},
		"put":{"requestBody":{"content":{"*/*":{"schema":{"type":"object"}}}}}}`))
	for _, tt := range []struct {
		method, media string
		reads         bool
		want          string
	}{
		{"POST", "application/json", true, ""},
		{"POST", "Application/JSON; charset=utf-8", true, ""},
		{"POST", "image/png", false, ""},
		{
			"POST", "text/plain", false,
			"header Content-Type must be one of application/json, application/x-www-form-urlencoded, image/*",
		},
		{
			"POST", "", false,
			"header Content-Type must be one of application/json, application/x-www-form-urlencoded, image/*",
		},
		{"PUT", "application/vnd.shop+json", true, ""},
		{"PUT", "text/plain", false, ""},
	} {
		m, _ := v.Find(tt.method, "/o")
		got := said(m.Head(newWork(t), "", 5, func(string) []string { return []string{tt.media} }))
		if got != tt.want || m.ReadsBody(tt.media) != tt.reads {
			t.Errorf("%s %q: %q and %v", tt.method, tt.media, got, m.ReadsBody(tt.media))
		}
	}
	m, _ := v.Find("POST", "/o")
	const charset = "header Content-Type must not have a charset other than UTF-8"
	for parameter, want := range map[string]string{
		"": "", ";charset=UTF-8": "", `; charset="utf-8"`: "", ";charset=iso-8859-1": "", ";v=1": "", ";": "",
		";charset=utf-16": charset, ";charset=UTF-7": charset, ";charset=utf-8;charset=utf-7": charset,
		"; charset=": charset,
	} {
		if got := said(m.Body(newWork(t), "application/json"+parameter, "", []byte("{}"))); got != want {
			t.Errorf("%q: %q, want %q", parameter, got, want)
		}
	}
	for form, want := range map[string]string{
		"n=1&l=1&l=2": "", "n=x": "body /n must be an integer", "l=1": "body /n is required",
		"n=1&l=x": "body /l/0 must be an integer", "n=1&n=2": "body /n must be an integer",
	} {
		if got := said(m.Body(newWork(t), "application/x-www-form-urlencoded", "", []byte(form))); got != want {
			t.Errorf("%s: %q, want %q", form, got, want)
		}
	}
}

func TestUnchecked(t *testing.T) {
	t.Parallel()
	v := compile(t, operation("3.1.0", `"/a{b}{c}":{"get":{}},"/o":{"post":{
		"parameters":[{"name":"m","in":"query","schema":{"type":"object"}}],
		"requestBody":{"content":{"text/csv":{},"application/json":{"schema":{"unevaluatedProperties":false,
		"properties":{"a":{"type":"string","pattern":"(?=a)b"}}}}}}}}`))
	var got []string
	for _, one := range v.Unchecked() {
		got = append(got, one.At+": "+one.Reason)
	}
	want := []string{
		"/a{b}{c}: The path can't be matched, because its parameters are next to each other.",
		"POST /o: query m: The parameter isn't checked, because objects are checked only in the style deepObject.",
		"POST /o: body/schema/properties/a: The pattern",
	}
	for _, one := range want {
		if !strings.Contains(strings.Join(got, "\n"), one) {
			t.Errorf("no %q in %q", one, got)
		}
	}
	for _, part := range []string{"unevaluatedProperties", "text/csv", "(?=a)b"} {
		if !strings.Contains(fmt.Sprint(got), part) {
			t.Errorf("no %s in %q", part, got)
		}
	}
	if diff := cmp.Diff(5, len(got)); diff != "" {
		t.Errorf("%s: %q", diff, got)
	}
}
