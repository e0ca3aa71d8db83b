package docs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/docs"
)

const document = `{
  "paths": {"/api/v1/keys/{key}/rotate": {"post": {
    "operationId": "rotate-key", "summary": "Rotate a key", "tags": ["API keys"], "security": [{"bearer": []}],
    "parameters": [{"name": "key", "in": "path", "required": true, "schema": {"type": "string"}}],
    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/In"}}}},
    "responses": {
      "200": {"description": "OK", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Out"}}}},
      "4XX": {"$ref": "#/components/responses/Problem"},
      "default": {"description": "Error"}
    }
  }}},
  "components": {"responses": {"Problem": {"description": "The request was refused"}}, "schemas": {
    "In": {"type": "object", "required": ["mode"], "properties": {
      "mode": {"type": "string", "enum": ["now", "later"]}, "grace": {"type": ["integer", "null"]}}},
    "Out": {"type": "object", "properties": {"keys": {"type": "array", "items": {"$ref": "#/components/schemas/Key"}}}},
    "Key": {"type": "object",
      "properties": {"ends": {"type": "string", "format": "date-time", "description": "Its end"}}}
  }}
}`

func TestReadReference(t *testing.T) {
	r, err := docs.ReadReference([]byte(document), "https://postern.example.com")
	if err != nil {
		t.Fatal(err)
	}
	tag, ok := r.Tag("api-keys")
	if !ok {
		t.Fatalf("no tag api-keys in %+v", r.Tags)
	}
	want := docs.Tag{Slug: "api-keys", Title: "API keys", Operations: []docs.Operation{{
		ID:         "rotate-key",
		Method:     "POST",
		Path:       "/api/v1/keys/{key}/rotate",
		Summary:    "Rotate a key",
		Parameters: []docs.Field{{Name: "key", In: "path", Type: "string", Required: true}},
		BodyType:   "application/json",
		Body: []docs.Field{
			{Name: "grace", Type: "integer"},
			{Name: "mode", Type: "now, later", Required: true},
		},
		Answers: []docs.Answer{
			{Status: "200", Doc: "OK", Fields: []docs.Field{
				{Name: "keys", Type: "list of object"},
				{Name: "keys.ends", Type: "time", Doc: "Its end"},
			}},
			{Status: "4XX", Doc: "The request was refused"},
			{Status: "in other cases", Doc: "a problem (RFC 9457)"},
		},
		Curl: "curl 'https://postern.example.com/api/v1/keys/{key}/rotate' \\\n" +
			"  -H \"Authorization: Bearer $POSTERN_TOKEN\" \\\n" +
			`  -H 'content-type: application/json' -d '{"mode":"now"}'`,
	}}}
	if diff := cmp.Diff(want, tag); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if hits := r.Search("rotate key"); len(hits) != 1 || hits[0].URL != "/docs/reference/api-keys#rotate-key" {
		t.Errorf("found %+v", hits)
	}
}
