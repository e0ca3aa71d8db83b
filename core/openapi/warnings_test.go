package openapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Mistakes that leave no doubt about routes, parameters and request bodies are accepted, and named.
func TestParse_warnings(t *testing.T) {
	t.Parallel()
	const old = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},`
	components := func(head, text string) string { return head + `"paths":{},"components":{` + text + `}}` }
	get := func(text string) string { return head + `"paths":{"/a":{"get":{` + text + `}}}}` }
	many := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(`"S%02d":{"type":"array"}`, i))
		}
		return strings.Join(out, ",")
	}
	places := func(n int) (out string) {
		for i := range n {
			out += fmt.Sprintf("#/components/schemas/S%02d, ", i)
		}
		return out
	}
	for name, tt := range map[string]struct {
		text string
		want []string // code: detail
	}{
		"none": {get(`"responses":{"200":{"description":"fine"}}`), nil},
		"arrays without items": {
			old + `"paths":{"/a":{"get":{"parameters":[{"name":"p","in":"query","schema":{"type":"array"}}]}}},` +
				`"components":{"schemas":{"A":{"properties":{"x/y":{"type":"array"},"type":{"type":"string"}}}}}}`,
			[]string{"openapi_no_items: An array has no items keyword, so it accepts any items: " +
				"#/components/schemas/A/properties/x~1y, GET /a: parameters/0/schema."},
		},
		"members of paths": {
			head + `"paths":{"/a":{"GET":{},"Post":{},"trace":{},"query":{},"get ":{},"x-a":{},"$ref":"#/x-a"},` +
				`"/b":{"GET":{},"get ":1,"trace":{},"x-a":{},"summary":"s","description":"d","parameters":[],` +
				`"servers":[],"put":{}}},"x-a":{"query":{}}}`,
			[]string{"openapi_unknown_member: A member of a path is ignored because it isn't get, head, post, put, " +
				"patch, delete or options, in lowercase: /a has \"query\", /b has \"GET\", /b has \"get \", /b has " +
				"\"trace\"."},
		},
		"paths that no call matches": {
			head + `"paths":{"/":{},"/a/":{},"/a*/{b}.{c}":{},"/b?x=1":{},"/c#d":{},"/d/{x}{y}":{},"/e/*":{},` +
				`"/f/../g":{},"/{h?}":{},"//i":{},"/j/./k":{},"/l//m":{}}}`,
			[]string{"openapi_unmatched_path: No call matches a path that has a query, a fragment, a wildcard, " +
				"parameters next to each other, or a segment that is empty, \".\" or \"..\": //i, /b?x=1, /c#d, " +
				"/d/{x}{y}, /e/*, /f/../g, /j/./k, /l//m."},
		},
		"of 3.1": {components(head, `"schemas":{"A":{"type":"array"}}`), nil},
		"more than are listed": {components(old, `"schemas":{`+many(53)+`}`), []string{
			"openapi_no_items: An array has no items keyword, so it accepts any items: " + places(20) +
				"and 33 more.",
		}},
		"a name twice": {components(head, `"schemas":{"A":{"required":["a","b","a"]}}`), []string{
			"openapi_required_twice: A list of required members contains a name twice: #/components/schemas/A has a.",
		}},
		"references of responses": {
			get(`"responses":{"200":{"$ref":"../a.json"},"404":{"description":"","content":{"application/json":` +
				`{"schema":{"$ref":"#/components/schemas/A"}}}}}`),
			[]string{"openapi_dangling_reference: A reference doesn't resolve, so its target " +
				"isn't checked: GET /a: responses/200 to ../a.json, " +
				"GET /a: responses/404/content/application~1json/schema to #/components/schemas/A."},
		},
		"responses": {get(`"responses":{"200":"fine"}`), []string{
			"openapi_response: A response is ignored because it isn't an object or a reference to one: GET /a: " +
				"responses/200.",
		}},
		"names of components": {components(head, `"schemas":{"Page[User]":{}},"x-other":{"a b":1}`), []string{
			"openapi_component_name: The name of a component contains characters other than A to Z, a to z, 0 to 9, " +
				"\".\", \"-\" and \"_\": #/components/schemas/Page[User].",
		}},
		"pathItems": {components(old, `"pathItems":{"a":{}}`), []string{
			"openapi_path_items: The field components.pathItems requires OpenAPI 3.1: #/components/pathItems.",
		}},
		"pathItems of 3.1": {components(head, `"pathItems":{"a":{}}`), nil},
		"unknown keywords": {
			components(head, `"schemas":{"A":{"title":"A","x-a":1,"properties":{"optional":{"optional":true}}}}`),
			[]string{"openapi_unknown_keyword: A schema has an unknown keyword, which has no effect: " +
				"#/components/schemas/A/properties/optional has optional."},
		},
		"unquoted": {"openapi: 3.0\ninfo: {title: t, version: 1.0}\npaths: {}\n", []string{
			"openapi_unquoted: An unquoted value was read as a number. Use quotes, because 1.10 without quotes can " +
				"be read as 1.1: openapi, info/version.",
		}},
		"no info": {`{"openapi":"3.0.0","paths":{}}`, []string{
			"openapi_info: The title or the version of the API is missing: info.",
		}},
		"security": {get(`"security":{"a":[]}`), []string{
			"openapi_security: Security is ignored because it isn't a list of objects with a list of scopes for each " +
				"scheme: GET /a: security.",
		}},
		"servers": {head + `"servers":[{"url":"https://a.example.com"},{}],"paths":{` +
			`"/a":{"servers":[{"url":"https://{x}.example.com","variables":{"x":{"default":"b"}}}],"get":{},` +
			`"put":{}},` +
			`"/b":{"get":{"servers":[{"url":"https://b.example.com"},{"url":"https://a.example.com"}]}}}}`, []string{
			"openapi_server: A server is ignored because it isn't an object with a url: servers, number 2.",
			"openapi_own_server: The document has a separate server, https://b.example.com, for: path /a, GET /b. " +
				"Calls to these operations go to the environment's target. Add an environment with the target " +
				"https://b.example.com for them.",
		}},
		"parameter twice": {get(`"parameters":[{"name":"p","in":"query"},{"in":"query","name":"p"}]`), []string{
			"openapi_parameter_twice: A parameter appears twice with the same description: GET /a: query p.",
		}},
		"a route twice": {head + `"paths":{"/a/{id}":{"get":{}},"/a/{key}":{"get":{}}}}`, []string{
			"openapi_alike: A path differs from another path only in parameter names. The gateway can't tell them " +
				"apart, so only the other path is listed: GET /a/{key} is /a/{id}.",
		}},
		"names of a path": {head + `"paths":{"/a/{id}":{"get":{}},"/a/{key}":{"delete":{}}}}`, nil},
		"what is not read": {
			head + `"paths":{},"x-a":{"$ref":"nowhere"},"components":{"schemas":{"A":{"default":{"$ref":"nowhere"},` +
				`"properties":{"$ref":{"type":"string"}}}}}}`, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := parse([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range doc.Warnings {
				got = append(got, one.Code+": "+one.Detail)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
