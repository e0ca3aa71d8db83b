package validate_test

import "testing"

// A parameter that isn't a list appears once, with any value and in any notation.
func TestRepeated(t *testing.T) {
	t.Parallel()
	const form = `"requestBody":{"content":{"application/x-www-form-urlencoded":{"schema":{"type":"object",
		"properties":{"text":{"type":"string"},"number":{"type":"integer"},"list":{"type":"array"}}}}}}`
	v := compile(t, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{"/o":{"post":{"parameters":[
		{"name":"text","in":"query","schema":{"type":"string"}},
		{"name":"number","in":"query","schema":{"type":"integer"}},
		{"name":"flag","in":"query","schema":{"type":["boolean","null"]}},
		{"name":"enum","in":"query","schema":{"enum":["a","1"]}},
		{"name":"untyped","in":"query","schema":{"maxLength":9}},
		{"name":"any","in":"query","schema":true},
		{"name":"empty","in":"query","schema":{}},
		{"name":"ref","in":"query","schema":{"$ref":"#/components/schemas/Text"}},
		{"name":"both","in":"query","schema":{"type":["string","array"]}},
		{"name":"items","in":"query","schema":{"items":{"type":"string"}}},
		{"name":"one","in":"query","explode":false,"schema":{"type":"array","items":{"type":"string"}}},
		{"name":"list","in":"query","schema":{"type":"array","items":{"type":"string"}}},
		{"name":"X-Text","in":"header","schema":{"type":"string"}},
		{"name":"X-Number","in":"header","schema":{"type":"integer"}},
		{"name":"X-Untyped","in":"header","schema":{"maxLength":9}},
		{"name":"X-Any","in":"header","schema":{}},
		{"name":"X-List","in":"header","schema":{"type":"array","items":{"type":"string"}}}],`+form+`}}},
		"components":{"schemas":{"Text":{"type":"string"}}}}`)
	for query, want := range map[string]string{
		"text=1&text=1":       "query text must appear once",
		"text=&text":          "query text must appear once",
		"text=1&%74ext=%31":   "query text must appear once",
		"text=1;text=1":       "query text must appear once",
		"text=1&Text=1":       "query text must appear once",
		"number=1&number=1":   "query number must appear once",
		"flag=true&flag=true": "query flag must appear once",
		"enum=a&enum=a":       "query enum must appear once",
		"ref=1&ref=1":         "query ref must appear once",
		"untyped=1&untyped=1": "query untyped must appear once",
		"any=1&any=1":         "",
		"empty=1&empty=1":     "query empty must appear once",
		"one=1&one=1":         "query one must appear once",
		"both=1&both=1":       "",
		"items=1&items=1":     "",
		"list=1&list=1":       "",
		"other=1&other=1":     "",
	} {
		m, _ := v.Find("POST", "/o")
		if got := said(m.Head(newWork(t), "?"+query, 0, func(string) []string { return nil })); got != want {
			t.Errorf("query %s: %q, want %q", query, got, want)
		}
	}
	for form, want := range map[string]string{
		"text=1&text=1":     "body /text must be a string",
		"number=1&number=1": "body /number must be an integer",
		"list=1&list=1":     "",
	} {
		m, _ := v.Find("POST", "/o")
		if got := said(m.Body(newWork(t), "application/x-www-form-urlencoded", "", []byte(form))); got != want {
			t.Errorf("form %s: %q, want %q", form, got, want)
		}
	}
	for name, want := range map[string]string{
		"X-Text":    "header X-Text must appear once",
		"X-Number":  "header X-Number must appear once",
		"X-Untyped": "header X-Untyped must appear once",
		"X-Any":     "header X-Any must appear once",
		"X-List":    "",
	} {
		m, _ := v.Find("POST", "/o")
		got := said(m.Head(newWork(t), "", 0, func(field string) []string {
			if field == name {
				return []string{"1", "1"}
			}
			return nil
		}))
		if got != want {
			t.Errorf("header %s: %q, want %q", name, got, want)
		}
	}
}
