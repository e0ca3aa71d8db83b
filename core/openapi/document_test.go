package openapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"postern/core/contract"
	"postern/core/openapi"
	"postern/testkit/golden"
)

// parse parses a document within a new budget.
func parse(data []byte) (*openapi.Document, error) {
	return openapi.Parse(openapi.NewBudget(context.Background(), openapi.Size), data)
}

func unpack(t testing.TB, file string) []byte {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestParse_golden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.gz")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	const listed = 100
	var got strings.Builder
	for _, file := range files {
		doc, err := parse(unpack(t, file))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		fmt.Fprintf(&got, "# %s: %s, %s %s\n", filepath.Base(file), doc.Spec, doc.Title, doc.Version)
		for _, server := range doc.Servers {
			fmt.Fprintf(&got, "server %s\n", server.URL)
		}
		for _, one := range doc.Warnings {
			fmt.Fprintf(&got, "warning %s: %s\n", one.Code, one.Detail)
		}
		sum := sha256.New()
		for i, op := range doc.Operations {
			line := strings.TrimRight(op.Method+" "+op.Path+" "+strings.Join(op.Scopes, ","), " ")
			fmt.Fprintln(sum, line)
			if i < listed {
				fmt.Fprintln(&got, line)
			}
		}
		if more := len(doc.Operations) - listed; more > 0 {
			fmt.Fprintf(&got, "and %d more, SHA-256 of all %x\n", more, sum.Sum(nil))
		}
		doc.Warnings = slices.DeleteFunc(doc.Warnings, func(one contract.Warning) bool { // of the conversion
			return strings.HasPrefix(one.Code, "swagger_")
		})
		again, err := parse(doc.JSON)
		if err != nil {
			t.Errorf("%s as JSON: %v", file, err)
		} else if diff := cmp.Diff(doc.Summary, again.Summary, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s as JSON: %s", file, diff)
		}
	}
	golden.Compare(t, "testdata/operations.golden", got.String())
}

const head = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},`

func TestParse_refusals(t *testing.T) {
	t.Parallel()
	const onlyOneForm = `GET /a: the parameter "p" must have either a schema or one content type`
	for name, tt := range map[string]struct{ text, want string }{
		"empty": {" \n", "empty"},
		"broken JSON": {"{\n\"openapi\": \"3.0.0\",\n ]",
			"t valid JSON: unexpected text at line 3, column 2."},
		"half of JSON":  {`{"openapi":"3.0.0","info":{"title":"`, "t valid JSON: it ends too early."},
		"broken YAML":   {"openapi: 3.0.0\ninfo: {\n]", "neither valid JSON nor valid YAML. Check it near line 2."},
		"a list":        {"- openapi", "isn't an object"},
		"a text":        {"hello", "isn't an object"},
		"no version":    {`{"info":{}}`, "The field openapi is missing"},
		"Swagger 1":     {`{"swagger":"1.2"}`, `Swagger "1.2" isn't supported`},
		"version 4":     {`{"openapi":"4.0.0"}`, "3.0 or 3.1"},
		"paths no list": {head + `"paths":[]}`, "isn't valid"},
		"path":          {head + `"paths":{"orders":{"get":{"responses":{"200":{"description":"x"}}}}}}`, "orders"},
		"remote reference": {head + `"paths":{"/a":{"$ref":"https://example.com/a.json"}}}`,
			"refers to another file"},
		"reference to a file": {head + `"paths":{"/a":{"get":{"parameters":[{"$ref":"../secrets.json"}]}}}}`,
			"GET /a: a parameter must be an object, or refer to one: it refers to another file, ../secrets.json"},
		"reference to nothing": {head + `"paths":{"/a":{"get":{"requestBody":{"$ref":"#/components/responses/A"}}}}}`,
			`or refer to one: the reference "#/components/responses/A" doesn't resolve.`},
		"two reasons": {head + `"paths":{"a":{},"/b":{"get":{"parameters":[{"in":"query"}]},"put":7}}}`,
			"GET /b: a parameter has no name. The document isn't valid: PUT /b: it must be an object. The document " +
				"isn't valid: path a: it must start with a slash, and each { must have a matching }."},
		"parameter twice": {head + `"paths":{"/a":{"get":{"parameters":[{"name":"p","in":"query","schema":{}},` +
			`{"name":"p","in":"query","schema":{"type":"integer"}}]}}}}`, `the parameter "p" appears twice`},
		"only a cycle": {head + `"paths":{},"components":{"schemas":{"A":{"$ref":"#/components/schemas/B"},` +
			`"B":{"$ref":"#/components/schemas/A"}}}}`, "16 references, or references form a cycle"},
		"ten paths alike": {head + `"paths":{` + strings.TrimSuffix(alike(10), ",") + `}}`,
			"GET /a/{p9}: more than 8 paths differ from /a/{p0} only in the names of parameters"},
		"two alike": {"openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths: {}\npaths: {}\n", "appears twice"},
		"two documents": {"openapi: 3.0.0\ninfo: {title: t, version: '1'}\npaths: {}\n---\nopenapi: 3.0.0\n",
			"There is text after the document"},
		"parameter with schema and content": {head + `"paths":{"/a":{"get":{"parameters":[{"name":"p","in":"query",` +
			`"schema":{},"content":{"application/json":{}}}]}}}}`, onlyOneForm},
		"parameter of two types": {head + `"paths":{"/a":{"get":{"parameters":[{"name":"p","in":"query",` +
			`"content":{"application/json":{},"text/plain":{}}}]}}}}`, onlyOneForm},
		"merge key": {"openapi: 3.0.0\ninfo: {<<: {title: t}, version: '1'}\npaths: {}\n", "merge keys"},
		"no number": {"openapi: 3.0.0\ninfo: {title: t, version: '1', x-size: .nan}\npaths: {}\n", "written as JSON"},
		"bomb":      {bomb(), "20 times as large"},
		"deep":      {"openapi: 3.0.0\nx-deep: " + strings.Repeat("[", 300) + strings.Repeat("]", 300), "nested"},
		"deep JSON": {head + `"paths":{},"x-deep":` + strings.Repeat("\n[", 200) + strings.Repeat("]", 200) + "}",
			"Line 101: the document is nested more than 100 levels deep"},
		"large": {head + `"x":"` + strings.Repeat("x", openapi.MaxSize) + `"}`, "16 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parse([]byte(tt.text))
			refused, ok := errors.AsType[*openapi.Error](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") ||
				len(refused.Reasons) == 0 {
				t.Errorf("%v, want %q in one line", err, tt.want)
			}
		})
	}
}

func alike(n int) (out string) {
	for i := range n {
		out += fmt.Sprintf(`"/a/{p%d}":{"get":{}},`, i)
	}
	return out
}

// bomb is a document whose aliases stand for much more than it has.
func bomb() string {
	text := "openapi: 3.0.0\na0: &a0 " + strings.Repeat("x", 1000) + "\n"
	for i := 1; i < 9; i++ {
		text += fmt.Sprintf("a%d: &a%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9))
	}
	return text
}

// A schema that others refer to many times on each level is read once.
func TestParse_wideSchemas(t *testing.T) {
	t.Parallel()
	wide := func(to, last string) string {
		return `{"allOf":[` + strings.Repeat(`{"$ref":"#/components/schemas/`+to+`"},`, 1800) + last + `]}`
	}
	text := head + `"paths":{"/a":{"post":{"responses":{"200":{"description":"x","content":{"application/json":` +
		`{"schema":{"$ref":"#/components/schemas/A"}}}}}}}},"components":{"schemas":{` +
		`"A":` + wide("B", `{"properties":{"id":{"type":"string"}}}`) + `,"B":` + wide("C", "{}") + `,"C":` +
		wide("D", "{}") + `,"D":{"allOf":[{"$ref":"#/components/schemas/A"}]}}}}`
	done := make(chan bool, 1)
	go func() {
		doc, err := parse([]byte(text))
		done <- err == nil && doc.Operations[0].AnswersID
	}()
	select {
	case answersID := <-done:
		if !answersID {
			t.Error("the property id is not found")
		}
	case <-time.After(30 * time.Second):
		t.Error("the document is not read within 30 seconds")
	}
}

func TestParse_reading(t *testing.T) {
	t.Parallel()
	doc, err := parse([]byte(`
openapi: 3.0.3
info: {title: Shop, version: '2.0'}
servers:
  - {url: "https://{region}.example.com/v1", variables: {region: {default: eu}}}
security: [{oauth: ["orders:read"]}]
paths:
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string, example: 2020-01-01}}]
    get: {responses: {200: {description: fine}}}
    delete: {deprecated: true, security: [{}, {oauth: [admin]}], responses: {200: {description: fine}}}
    post: {security: [{key: []}, {oauth: [b, a], other: [a]}], responses: {200: {description: fine}}}
components:
  schemas: {Tree: {type: object, properties: {child: {$ref: '#/components/schemas/Tree'}}}}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-API-Key}
    other: {type: openIdConnect, openIdConnectUrl: "https://example.com"}
    oauth: {type: oauth2, flows: {clientCredentials: {tokenUrl: "https://example.com", scopes: {}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range doc.Operations {
		doc.Operations[i].Digest = ""
	}
	want := openapi.Summary{
		Spec:    "3.0.3",
		Title:   "Shop",
		Version: "2.0",
		Servers: []openapi.Server{{URL: "https://eu.example.com/v1"}},
		Operations: []openapi.Operation{
			{Method: "GET", Path: "/orders/{id}", Scopes: []string{"orders:read"}},
			{Method: "POST", Path: "/orders/{id}", Scopes: []string{"a", "b"}},
			{Method: "DELETE", Path: "/orders/{id}", Deprecated: true},
		},
	}
	if diff := cmp.Diff(want, doc.Summary); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(doc.JSON), `"example":"2020-01-01"`) {
		t.Errorf("a date isn't a text any more: %s", doc.JSON)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	op := func(method, path, digest string) openapi.Operation {
		return openapi.Operation{Method: method, Path: path, Digest: digest}
	}
	from := openapi.Summary{
		Operations: []openapi.Operation{op("GET", "/a", "1"), op("GET", "/b", "1"), op("PUT", "/b", "1")},
	}
	to := openapi.Summary{
		Operations: []openapi.Operation{op("GET", "/a", "1"), op("PUT", "/b", "2"), op("GET", "/c", "1")},
	}
	want := openapi.Change{Added: []string{"GET /c"}, Removed: []string{"GET /b"}, Changed: []string{"PUT /b"}}
	if diff := cmp.Diff(want, openapi.Diff(&from, &to)); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkParse(b *testing.B) {
	data := unpack(b, "testdata/discord.json.gz") // 1.2 MB
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
