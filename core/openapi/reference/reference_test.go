package reference_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/openapi"
	"postern/core/openapi/reference"
)

func TestRead(t *testing.T) {
	t.Parallel()
	got, found, err := reference.Read([]byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},
		"security":[{"key":[]},{"oauth":["orders:read"]}],
		"paths":{"/orders/{id}":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"integer"}}],
		"put":{"summary":"Change","requestBody":{"required":true,"content":{"application/json":{
			"schema":{"$ref":"#/components/schemas/Order"},"example":{"price":1}}}},
			"responses":{"200":{"description":"Fine","content":{"application/json":{
			"schema":{"type":"array","items":{"$ref":"#/components/schemas/Order"}}}}}}}}},
		"components":{"schemas":{"Order":{"type":"object","required":["price"],"properties":{
			"price":{"type":"number","minimum":0,"description":"In euros"},
			"parent":{"$ref":"#/components/schemas/Order"},"state":{"enum":["new","paid"]}}}}}}`), "PUT",
		"/orders/{id}")
	if err != nil || !found {
		t.Fatalf("%v %v", found, err)
	}
	members := []reference.Member{
		{Name: "parent", Type: "Order"},
		{Name: "price", Type: "number", Required: true, Rules: "at least 0", Note: "In euros"},
		{Name: "state", Type: "any", Rules: "one of new, paid"},
	}
	want := reference.Operation{
		Method:       "PUT",
		Path:         "/orders/{id}",
		Summary:      "Change",
		Needs:        []string{"key", "oauth (orders:read)"},
		Parameters:   []reference.Member{{In: "path", Name: "id", Type: "integer", Required: true}},
		BodyRequired: true,
		Body: []reference.Content{{
			Type:    "application/json",
			Of:      "Order",
			Members: members,
			Example: "{\n  \"price\": 1\n}",
		}},
		Responses: []reference.Response{{"200", "Fine", []reference.Content{
			{Type: "application/json", Of: "array of Order", Members: members},
		}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, found, _ := reference.Read([]byte(`{"paths":{}}`), "GET", "/x"); found {
		t.Error("an operation that is not there is found")
	}
}

// Schemas that contain themselves end, in every operation of real services too.
func TestRead_realDocuments(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"museum.yaml", "paypal-orders.json", "paypal-subscriptions.json"} {
		packed, err := os.ReadFile(filepath.Join("../testdata", name+".gz"))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := openapi.Parse(openapi.NewBudget(t.Context(), openapi.Size), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range doc.Operations {
			got, found, err := reference.Read(doc.JSON, op.Method, op.Path)
			if err != nil || !found || len(got.Responses) == 0 {
				t.Errorf("%s %s: %v %v %d responses", op.Method, op.Path, found, err, len(got.Responses))
			}
		}
	}
}
