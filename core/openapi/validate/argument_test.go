package validate_test

import (
	"net/http"
	"strings"
	"testing"
)

// A query or a form that an upstream may read otherwise must match in that reading too, and what can't be read at all
// does not match.
func TestArguments_readings(t *testing.T) {
	t.Parallel()
	form := func(schema string) string {
		return `{"requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":` + schema + `}}}}`
	}
	const members = `"properties":{"n":{"type":"integer"},"list":{"type":"array","items":{"type":"integer"}},` +
		`"role":{"type":"string","not":{"enum":["admin"]}},` +
		`"a_b":{"type":"integer"},"text":{"type":"string","maxLength":3},"ID":{"type":"integer"},"id":{"type":"string"}}`
	v := compile(t, operation("3.1.0", `"/none":{"get":{}},"/o":{"get":{"parameters":[`+
		`{"name":"n","in":"query","schema":{"type":"integer"}},`+
		`{"name":"list","in":"query","schema":{"type":"array","items":{"type":"integer"}}},`+
		`{"name":"a_b","in":"query","schema":{"type":"integer"}},`+
		`{"name":"role","in":"query","schema":{"type":"string","not":{"enum":["admin"]}}},`+
		`{"name":"text","in":"query","schema":{"type":"string","maxLength":3}},`+
		`{"name":"ID","in":"query","schema":{"type":"integer"}},{"name":"id","in":"query","schema":{"type":"string"}}]},`+
		`"post":`+form(`{`+members+`}`)+`,"put":`+form(`{"allOf":[{`+members+`}]}`)+`}`))
	const integer, escape = "n must be an integer", "a percent sign that doesn't start an escape"
	for _, tt := range []struct{ text, want string }{
		{"n=1&text=a&other=x", ""},
		{"n=x", integer},
		{"+n=1", ""},
		{"+n=x", integer},
		{"%20n=x", integer},
		{"%09n=x", integer},
		{"n+=x", integer},
		{"n%00a=x", integer},
		{"%01n=x", integer},
		{"n%FF=x", integer},
		{"%c2%a0n=x", integer},
		{"N=x", integer},
		{"n=1&N=2", "n must "}, // appear once, or be an integer
		{"n=1&%20n=2", "n must "},
		{"x=1;n=x", integer},
		{"x=1;n=2", ""},
		{"x=1;+n=x", integer},
		{";n=x", integer},
		{"n=1;x=1", integer},
		{"text=a;n=x", "must"},
		{"x=1%3Bn=x", ""}, // it is a part of the value
		{"a.b=x", "a_b must be an integer"},
		{"a+b=x", "a_b must be an integer"},
		{"a%5Bb=x", "a_b must be an integer"},
		{"LIST=1&list=2", ""},
		{"LIST=x", "list"},
		{"LIST[]=x", "list"},
		{"+list[0]=x", "list"},
		{"id=x&ID=1", ""},
		{"ID=x", "ID must be an integer"},
		{"%n=1", escape},
		{"n%=1", escape},
		{"x=1;%n=1", escape},
		{"%u006e=x", escape},
		{"text=%", escape},
		{"text=%25", ""},
		{"role=admin", "role must not"},
		{"role=adm%FFin", "role must not"}, // some upstreams drop what isn't UTF-8
		{"role=adm\xffin", "role must not"},
		{"role=adm%C3%A9in", ""},
		{"text=a%FF", ""},
		{"text=100;", "text must have at most 3 characters"},
	} {
		for _, method := range []string{"GET", "POST", "PUT"} {
			m, found := v.Find(method, "/o")
			if !found {
				t.Fatal("not found")
			}
			got := said(m.Body(newWork(t), "application/x-www-form-urlencoded", "", []byte(tt.text)))
			if method == "GET" {
				got = said(m.Head(newWork(t), "?"+tt.text, 0, http.Header{}.Values))
			}
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("%s %s: %q, want %q", method, tt.text, got, tt.want)
			}
		}
		m, _ := v.Find("GET", "/none")
		if got := said(m.Head(newWork(t), "?"+tt.text, 0, http.Header{}.Values)); got != "" {
			t.Errorf("%s without parameters: %q", tt.text, got)
		}
	}
}
