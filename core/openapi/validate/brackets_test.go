package validate_test

import (
	"strings"
	"testing"
)

// brackets is an operation whose form and query have members within members. The query has the same as the members of
// a form, and some more.
const brackets = `"/o":{"post":{"requestBody":{"content":{"application/x-www-form-urlencoded":{
	"encoding":{"ids":{"style":"form","explode":false}},
	"schema":{"type":"object","additionalProperties":false,"properties":{
		"expand":{"type":"array","items":{"type":"string","maxLength":9}},
		"ids":{"type":"array","items":{"type":"integer"}},
		"matrix":{"type":"array","items":{"type":"array","items":{"type":"integer"}}},
		"metadata":{"anyOf":[{"type":"object","additionalProperties":{"type":"string","maxLength":5}},{"enum":[""]}]},
		"items":{"type":"array","maxItems":2,"items":{"$ref":"#/components/schemas/Item"}},
		"source":{"anyOf":[{"$ref":"#/components/schemas/Bank"},{"$ref":"#/components/schemas/Card"},
			{"type":"string","maxLength":4}]},
		"either":{"oneOf":[{"type":"array","items":{"type":"string"}},
			{"type":"object","additionalProperties":{"type":"integer"}}]},
		"name":{"type":"string"},"flag[on]":{"type":"boolean"},
		"tree":{"$ref":"#/components/schemas/Tree"},"lists":{"$ref":"#/components/schemas/Lists"}}}}}}}},
	"/q":{"get":{"parameters":[
		{"name":"expand","in":"query","style":"deepObject","explode":true,
			"schema":{"type":"array","items":{"type":"string","maxLength":9}}},
		{"name":"ids","in":"query","required":true,"schema":{"type":"array","items":{"type":"integer"}}},
		{"name":"created","in":"query","style":"deepObject","schema":{"anyOf":[{"type":"integer"},
			{"type":"object","properties":{"gt":{"type":"integer"},"in":{"type":"array","items":{"type":"integer"}}}}]}},
		{"name":"filter","in":"query","style":"deepObject","schema":{"type":"object","properties":{
			"price":{"type":"object","additionalProperties":false,"properties":{"min":{"type":"number"}}}}}},
		{"name":"filter[state]","in":"query","schema":{"enum":["new"]}},
		{"name":"to","in":"query","schema":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}},
		{"name":"n","in":"query","schema":{"type":"integer"}},
		{"name":"json","in":"query","content":{"application/json":{"schema":{"type":"object"}}}}]}}`

const bracketSchemas = `,"components":{"schemas":{
	"Item":{"type":"object","required":["price"],"properties":{"price":{"type":"integer"},"name":{"type":"string"},
		"paid":{"type":"boolean"}}},
	"Bank":{"type":"object","required":["bank"],"properties":{"bank":{"type":"string"},"number":{"type":"string"}}},
	"Card":{"type":"object","required":["card"],"properties":{"card":{"type":"integer"},"number":{"type":"integer"}}},
	"Tree":{"type":"object","properties":{"child":{"$ref":"#/components/schemas/Tree"},"n":{"type":"integer"}}},
	"Lists":{"type":"array","items":{"$ref":"#/components/schemas/Lists"}}}}}`

// Lists and objects in forms and queries are written in brackets, which OpenAPI leaves open beyond one level.
func TestBrackets(t *testing.T) {
	t.Parallel()
	v := compile(t, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{`+brackets+"}"+bracketSchemas)
	deep := func(n int) string { return "tree" + strings.Repeat("[child]", n) + "[n]=1" }
	for _, tt := range []struct{ in, text, want string }{
		{"form", "expand[]=a&expand[]=b", ""},
		{"form", "expand%5B%5D=a&expand[0]=b&expand=c", ""},
		{"form", "expand[]=customer.sources", "body /expand/0 must have at most 9 characters"},
		{"form", "ids=1,2,3", ""},
		{"form", "ids=1,x", "body /ids/1 must be an integer"},
		{"form", "ids[1]=x&ids[0]=1", "body /ids/1 must be an integer"},
		{"form", "ids[a]=1", "body /ids must be an array"},
		{"form", "matrix[0][0]=1&matrix[0][1]=2&matrix[1][]=3", ""},
		{"form", "matrix[0][0]=1&matrix[0][1]=x", "body /matrix/0/1 must be an integer"},
		{"form", "matrix[][]=1&matrix[][]=2", ""},
		{"form", "metadata[order]=7&metadata[0]=x", ""},
		{"form", "metadata=", ""},
		{"form", "metadata=x", "body /metadata must match one of the 2 descriptions in the document"},
		{"form", "metadata[order]=123456", "body /metadata must match one of the 2 descriptions in the document"},
		{"form", "metadata[a][b]=1", "body /metadata must match one of the 2 descriptions in the document"},
		{"form", `metadata={"a":"b"}`, ""},
		{"form", `metadata={"a":1}`, "body /metadata must match one of the 2 descriptions in the document"},
		{"form", "items[0][price]=1&items[0][name]=2&items[1][price]=3&items[1][paid]=true", ""},
		{"form", "items[0][price]=x", "body /items/0/price must be an integer"},
		{"form", "items[0][name]=a", "body /items/0/price is required"},
		{"form", "items[0][price]=1&items[0][paid]=1", "body /items/0/paid must be a boolean"},
		{"form", "items[][price]=1&items[][name]=2&items[][price]=3", ""},
		{"form", "items[][price]=1&items[][price]=2&items[][price]=3", "body /items must have at most 2 items"},
		{"form", "items[0][price][x]=1", "body /items/0/price must be an integer"},
		{"form", "items[0]=1", "body /items/0 must be an object"},
		{"form", `items=[{"price":1}]`, ""},
		{"form", `items=[{"price":"1"}]`, "body /items/0/price must be an integer"},
		{"form", "source[bank]=1&source[number]=007", ""},
		{"form", "source[card]=1&source[number]=7", ""},
		{"form", "source[card]=x&source[number]=7",
			"body /source must match one of the 3 descriptions in the document"},
		{"form", "source=tok", ""},
		{"form", "source=token", "body /source must match one of the 3 descriptions in the document"},
		{"form", "either[]=1", ""},
		{"form", "either[0]=x", ""},
		{"form", "either[a]=1", ""},
		{"form", "either[a]=x", "body /either must match one of the 2 descriptions in the document"},
		{"form", "name[first]=a", "body /name must be a string"},
		{"form", "flag[on]=true", ""},
		{"form", "flag[on]=1", "body /flag[on] must be a boolean"},
		{"form", "unknown[a]=1", "body has a member that the document doesn't allow"},
		{"form", "expand[=1", "body has a member that the document doesn't allow"},
		{"form", "expand=a&expand[b]=c", "body must not be sent both as a plain value and with brackets"},
		{"form", deep(63), ""},
		{"form", deep(64), "body must not have more than 64 brackets in a name"},
		{"form", "lists=1", "body is too large or too deeply nested to be checked against the document"},
		{"query", "ids[]=1&ids[]=2", ""},
		{"query", "ids[0]=1", ""},
		{"query", "ids[]=x", "query ids.0 must be an integer"},
		{"query", "ids=1&ids=x", "query ids.1 must be an integer"},
		{"query", "id[]=1", "query ids is required"},
		{"query", "ids=1&expand[]=data.customer", "query expand.0 must have at most 9 characters"},
		{"query", "ids=1&expand[]=customer&expand[1]=charge", ""},
		{"query", "ids=1&created=5&created[gt]=1",
			"query created must not be sent both as a plain value and with brackets"},
		{"query", "ids=1&created[gt]=1&created[in][]=2", ""},
		{"query", "ids=1&created=5", ""},
		{"query", "ids=1&created[gt]=x", "query created must match one of the 2 descriptions in the document"},
		{"query", "ids=1&filter[price][min]=1.5", ""},
		{"query", "ids=1&filter[price][min]=x", "query filter.price.min must be a number"},
		{"query", "ids=1&filter[price][max]=1", "query filter.price has a member that the document doesn't allow"},
		{"query", "ids=1&filter[state]=new&filter[price][min]=1", ""},
		{"query", "ids=1&filter[state]=old", `query filter[state] must be one of "new"`},
		{"query", "ids=1&to=a&to=b", ""},
		{"query", "ids=1&to=a&to[]=b", ""},
		{"query", "ids=1&n[]=1", "query n must not be sent with brackets"},
		{"query", "ids=1&n[0]=1", "query n must not be sent with brackets"},
		{"query", "ids=1&n%5Ba%5D=1", "query n must not be sent with brackets"},
		{"query", "ids=1&n=1&n[]=x", "query n must not be sent with brackets"},
		{"query", "ids=1&n[]x=1", "query n must not be sent with brackets"}, // PHP reads n[]
		{"query", "ids=1&n" + strings.Repeat("[]", 65) + "=1", "query n must not be sent with brackets"},
		{"query", "ids=1&nn[]=1", ""},
		{"query", `ids=1&json={}&json[a]=1`, "query json must not be sent with brackets"},
		{"query", "ids=1&n=1&n=2", "query n must appear once"},
	} {
		var got string
		if tt.in == "form" {
			m, _ := v.Find("POST", "/o")
			got = said(m.Body(newWork(t), "application/x-www-form-urlencoded", "", []byte(tt.text)))
		} else {
			m, _ := v.Find("GET", "/q")
			got = said(m.Head(newWork(t), "?"+tt.text, 0, func(string) []string { return nil }))
		}
		if got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.in, tt.text, got, tt.want)
		}
	}
}

// Names with brackets are read within the steps of a call, whatever they are.
func TestBrackets_hostile(t *testing.T) {
	t.Parallel()
	v := compile(t, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{`+brackets+"}"+bracketSchemas)
	m, _ := v.Find("POST", "/o")
	for name, form := range map[string]string{
		"deep":  strings.Repeat("tree"+strings.Repeat("[child]", 63)+"[n]=1&", 1000),
		"lists": strings.Repeat("lists"+strings.Repeat("[]", 64)+"=1&", 1000),
		"names": strings.Repeat("source"+strings.Repeat("[0]", 64)+"=1&", 1000),
	} {
		work := newWork(t)
		m.Body(work, "application/x-www-form-urlencoded", "", []byte(form))
		if work.Steps() > 1_500_000 {
			t.Errorf("%s: %d steps", name, work.Steps())
		}
	}
}
