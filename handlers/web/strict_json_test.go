package web_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/handlers/web"
)

// A body is read twice, into an any for the validator and then into a struct. Both refuse the same, with or
// without an OpenAPI document, which the validator does not need.
func TestUnmarshalBody_document(t *testing.T) {
	for name, tc := range map[string]struct{ body, validated, document, refused string }{
		"an object": {
			body:      `{"name":"a","openapi": {"paths":{"/a":[1,2]}} ,"tenant":"t"}`,
			validated: `{"name":"a","openapi":{},"tenant":"t"}`,
			document:  `{"paths":{"/a":[1,2]}}`,
		},
		"a text":          {body: `{"openapi":"a: {"}`, validated: `{"openapi":{}}`, document: `"a: {"`},
		"null":            {body: `{"openapi":null,"name":"a"}`, validated: `{"openapi":null,"name":"a"}`},
		"a number":        {body: `{"openapi":3}`, validated: `{"openapi":3}`, document: `3`},
		"below a member":  {body: `{"a":{"openapi":{"b":1}}}`, validated: `{"a":{"openapi":{"b":1}}}`},
		"twice":           {body: `{"openapi":{"a":1},"openapi":{"b":2}}`, refused: "appears twice"},
		"twice in it":     {body: `{"openapi":{"a":1,"a":2}}`, validated: `{"openapi":{}}`, document: `{"a":1,"a":2}`},
		"twice around it": {body: `{"a":1,"openapi":{},"a":2}`, refused: "appears twice"},
		"NUL around it":   {body: `{"openapi":{"a":1},"name":"\u0000"}`, refused: "U+0000"},
		"not closed":      {body: `{"openapi":{"a":1}`, refused: "unexpected end"},
		"no JSON in it":   {body: `{"openapi":{"a":01},"name":"a"}`, refused: "invalid character"},
		"no UTF-8 in it":  {body: "{\"openapi\":{\"a\":\"\xff\"}}", refused: "UTF-8"},
		"more after it":   {body: `{"openapi":{"a":1}} {}`, refused: "after top-level value"},
		"an escaped name": {body: `{"open\u0061pi":{"a":1}}`, validated: `{"openapi":{"a":1}}`, document: `{"a":1}`},
		"many around it":  {body: `{"openapi":{},"a":[` + strings.Repeat("1,", 60_000) + `1]}`, refused: "more than"},
		"a long name": {
			body: `{"openapi":{},"` + strings.Repeat("a", 300) + `":1}`, refused: "larger than 256 bytes",
		},
		"many in it": {body: `{"openapi":[` + strings.Repeat("1,", 3) + `1]}`, validated: `{"openapi":[1,1,1,1]}`,
			document: `[1,1,1,1]`},
	} {
		t.Run(name, func(t *testing.T) {
			var validated any
			var read struct {
				OpenAPI json.RawMessage `json:"openapi"`
			}
			for _, err := range []error{
				web.UnmarshalBody([]byte(tc.body), &validated), web.UnmarshalBody([]byte(tc.body), &read),
			} {
				if tc.refused == "" && err != nil ||
					tc.refused != "" && (err == nil || !strings.Contains(err.Error(), tc.refused)) {
					t.Fatalf("error %v, want %q", err, tc.refused)
				}
			}
			if tc.refused != "" {
				return
			}
			var want any
			if err := json.Unmarshal([]byte(tc.validated), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, validated); diff != "" {
				t.Errorf("validated (-want +got):\n%s", diff)
			}
			if got := string(read.OpenAPI); got != tc.document && got != "null" {
				t.Errorf("document %s, want %s", got, tc.document)
			}
		})
	}
}
