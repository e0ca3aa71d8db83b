package openapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/openapi"
)

func TestParse_swagger(t *testing.T) {
	t.Parallel()
	const shop = `
swagger: "2.0"
info: {title: Shop, version: "1"}
host: api.example.com
basePath: /v1/
schemes: [http, https, ws]
consumes: [application/json]
securityDefinitions:
  basic: {type: basic}
  key: {type: apiKey, in: header, name: X-Key}
  oauth: {type: oauth2, flow: accessCode, authorizationUrl: "https://a", tokenUrl: "https://t", scopes: {read: r}}
security: [{oauth: [read]}]
parameters:
  page: {name: page, in: query, type: integer, minimum: 1}
  order: {name: order, in: body, required: true, schema: {$ref: "#/definitions/Order"}}
responses:
  none: {description: none}
paths:
  /orders:
    parameters: [{$ref: "#/parameters/page"}]
    get:
      produces: [application/json, text/csv]
      parameters:
        - {name: ids, in: query, type: array, items: {type: integer}}
        - {name: tags, in: query, type: array, items: {type: string}, collectionFormat: multi}
        - {name: tabs, in: query, type: array, items: {type: string}, collectionFormat: tsv}
      responses:
        200:
          description: fine
          schema: {type: array, items: {$ref: "#/definitions/Order"}}
          headers: {X-Total: {type: integer, description: all}}
          examples: {application/json: []}
        404: {$ref: "#/responses/none"}
    post: {parameters: [{$ref: "#/parameters/order"}], schemes: [http], responses: {201: {description: made}}}
  /files:
    post:
      consumes: [multipart/form-data, application/x-www-form-urlencoded]
      parameters:
        - {name: name, in: formData, type: string, required: true}
        - {name: ids, in: formData, type: array, items: {type: integer}}
      responses: {}
  /uploads:
    post: {parameters: [{name: file, in: formData, type: file}], responses: {}}
definitions:
  Order:
    type: object
    discriminator: kind
    required: [kind]
    properties: {kind: {type: string}, note: {type: string, x-nullable: true}, parent: {$ref: "#/definitions/Order"}}
    example: {$ref: "#/definitions/Other"}
`
	const converted = `{"openapi":"3.0.3","info":{"title":"Shop","version":"1"},
"servers":[{"url":"https://api.example.com/v1"}],"security":[{"oauth":["read"]}],
"paths":{
 "/orders":{"parameters":[{"$ref":"#/components/parameters/page"}],
  "get":{"parameters":[
    {"name":"ids","in":"query","style":"form","explode":false,"schema":{"type":"array","items":{"type":"integer"}}},
    {"name":"tags","in":"query","style":"form","explode":true,"schema":{"type":"array","items":{"type":"string"}}},
    {"name":"tabs","in":"query","schema":{}}],
   "responses":{"200":{"description":"fine","headers":{"X-Total":{"description":"all","schema":{"type":"integer"}}},
     "content":{"application/json":{"example":[],"schema":{"type":"array","items":{"$ref":"#/components/schemas/Order"}}},
      "text/csv":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/Order"}}}}},
    "404":{"$ref":"#/components/responses/none"}}},
  "post":{"requestBody":{"required":true,"content":{"application/json":{
    "schema":{"$ref":"#/components/schemas/Order"}}}},"responses":{"201":{"description":"made"}}}},
 "/files":{"post":{"requestBody":{"required":true,"content":{
   "multipart/form-data":{"schema":{"type":"object","required":["name"],"properties":{
    "name":{"type":"string"},"ids":{"type":"array","items":{"type":"integer"}}}}},
   "application/x-www-form-urlencoded":{"encoding":{"ids":{"style":"form","explode":false}},
    "schema":{"type":"object","required":["name"],"properties":{
    "name":{"type":"string"},"ids":{"type":"array","items":{"type":"integer"}}}}}}},"responses":{}}},
 "/uploads":{"post":{"requestBody":{"content":{"multipart/form-data":{"schema":{"type":"object","properties":{
   "file":{"type":"string","format":"binary"}}}}}},"responses":{}}}},
"components":{
 "schemas":{"Order":{"type":"object","discriminator":{"propertyName":"kind"},"required":["kind"],"properties":{
   "kind":{"type":"string"},"note":{"type":"string","nullable":true},"parent":{"$ref":"#/components/schemas/Order"}},
   "example":{"$ref":"#/definitions/Other"}}},
 "responses":{"none":{"description":"none"}},
 "parameters":{"page":{"name":"page","in":"query","schema":{"type":"integer","minimum":1}}},
 "securitySchemes":{"basic":{"type":"http","scheme":"basic"},"key":{"type":"apiKey","in":"header","name":"X-Key"},
  "oauth":{"type":"oauth2","flows":{"authorizationCode":{"authorizationUrl":"https://a","tokenUrl":"https://t",
   "scopes":{"read":"r"}}}}}}}`
	doc, err := parse([]byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal(doc.JSON, &got), json.Unmarshal([]byte(converted), &want)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	var warnings []string
	for _, one := range doc.Warnings {
		warnings = append(warnings, one.Code+" "+one.Detail)
	}
	for i, want := range []string{
		"swagger_converted The document is Swagger 2.0.",
		"swagger_collection_format A list has a collectionFormat that OpenAPI 3 doesn't support, so the list isn't " +
			"checked: Swagger, /orders, get: tabs.",
		"swagger_schemes An operation sets its own schemes, which are ignored. Calls go to the environment's " +
			"target: Swagger, /orders, post.",
	} {
		if i >= len(warnings) || !strings.HasPrefix(warnings[i], want) {
			t.Errorf("%q, want %q", warnings, want)
		}
	}
	if doc.Spec != "3.0.3" || len(doc.Operations) != 4 {
		t.Errorf("%+v", doc.Summary)
	}
}

// A document that leaves open which request bodies there are is refused. Parts that are written again for each
// operation are counted.
func TestParse_swaggerRefusals(t *testing.T) {
	t.Parallel()
	post := func(parameters string) string {
		return `{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/a":{"post":{"parameters":[` +
			parameters + `]}}}}`
	}
	many := func(n int, format string) string {
		var out strings.Builder
		for i := range n {
			fmt.Fprintf(&out, format, i)
		}
		return out.String()
	}
	paths := many(9000, `"/%d":{"post":{"parameters":[{"$ref":"#/parameters/p"}]}},`)
	for name, tt := range map[string]struct{ text, want string }{
		"two bodies": {post(`{"name":"a","in":"body","schema":{}},{"name":"b","in":"body","schema":{}}`),
			"Swagger, /a, post: there is more than one description of the request body"},
		"a body and a form": {post(`{"name":"a","in":"formData","type":"string"},{"name":"b","in":"body"}`),
			"there is both a body and form fields"},
		"types": {`{"swagger":"2.0","produces":[` + strings.TrimSuffix(many(20, `"a/type%d",`), ",") +
			`],"responses":{` + strings.TrimSuffix(many(200, `"r%d":{"schema":{}},`), ",") + `}}`,
			"more than 20 times as large"},
		"no list":  {`{"swagger":"2.0","paths":{"/a":{"get":{"parameters":{}}}}}`, "parameters must be a list"},
		"no place": {post(`{"name":"a","type":"string"}`), `"a" must be in path, query, header or cookie`},
		"repeated": {`{"swagger":"2.0","paths":{` + strings.TrimSuffix(paths, ",") +
			`},"parameters":{"p":{"name":"p","in":"body","schema":{"description":"` + strings.Repeat("x", 10_000) +
			`"}}}}`,
			"larger than 16 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse([]byte(tt.text))
			if _, refused := errors.AsType[*openapi.Error](err); !refused || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// All types of content are converted, and all definitions, whatever they are called.
func TestParse_swaggerAll(t *testing.T) {
	t.Parallel()
	var types []string
	for i := range 25 {
		types = append(types, fmt.Sprintf("a/type%d", i))
	}
	listed, err := json.Marshal(types)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := parse([]byte(`{"swagger":"2.0","info":{"title":"t","version":"1"},"consumes":` + string(listed) +
		`,"paths":{"/a":{"put":{"parameters":[{"name":"a","in":"body","schema":{"$ref":"#/definitions/x-model"}}]}},` +
		`"x-a":{"put":{"consumes":[]}}},"definitions":{"x-model":{"properties":{"a":{"$ref":"#/definitions/b"}}}},` +
		`"responses":{"x-answer":{"schema":{"type":"string"}}},` +
		`"parameters":{"x-p":{"name":"p","in":"query","type":"string"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	content := doc.Tree.Resolve(doc.Tree.LookUp("#/paths/~1a/put/requestBody/content"))
	for _, name := range types {
		if content[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	for ref, want := range map[string]any{
		"#/components/schemas/x-model/properties/a/$ref":                        "#/components/schemas/b",
		"#/components/responses/x-answer/content/application~1json/schema/type": "string",
		"#/components/parameters/x-p/schema/type":                               "string",
		"#/paths/x-a/put/consumes":                                              []any{},
	} {
		if diff := cmp.Diff(want, doc.Tree.LookUp(ref)); diff != "" {
			t.Errorf("%s: %s", ref, diff)
		}
	}
}
