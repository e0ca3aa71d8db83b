package projects

import (
	"fmt"
	"strings"
	"testing"

	"postern/core/openapi"
)

func TestProposeRules_owners(t *testing.T) {
	const document = `{"openapi": "3.0.3", "info": {"title": "t", "version": "1"}, "paths": {
		"/orders": {"get": {"responses": {"200": {"description": "all"}}}, "post": {"responses": {"201": {
			"description": "made", "content": {"application/json": {"schema": {"type": "object", "properties":
			{"id": {"type": "string"}}}}}}}}},
		"/orders/{orderId}": {
			"parameters": [{"name": "orderId", "in": "path", "required": true, "schema": {"type": "string"}}],
			"get": {"responses": {"200": {"description": "one"}}},
			"delete": {"responses": {"204": {"description": "gone"}}}},
		"/carts": {"post": {"responses": {"201": {"description": "no schema"}}}},
		"/carts/{id}": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
			"get": {"responses": {"200": {"description": "one"}}}}
	}}`
	doc, err := openapi.Parse(openapi.NewBudget(t.Context(), openapi.Size), []byte(document))
	if err != nil {
		t.Fatal(err)
	}
	proposal := proposeRules(&doc.Summary)
	var got []string
	for _, r := range proposal.Rules {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", strings.Join(r.Methods, ","), r.Path,
			strings.Join(r.Scopes, ","), strings.Join([]string{r.Owner, r.Remember, r.Forget}, "|"))))
		if wrong := checkRule(&r); len(wrong) > 0 {
			t.Errorf("%+v: %+v", r, wrong)
		}
	}
	want := []string{
		"POST /carts carts:write ||",
		"GET /carts/{id} carts:read ||",
		"GET /orders orders:read ||",
		"POST /orders orders:write |order:{response.id}|",
		"GET /orders/{orderId} orders:read order:{orderId}||",
		"DELETE /orders/{orderId} orders:write order:{orderId}||order:{orderId}",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestObjectType(t *testing.T) {
	for path, want := range map[string]string{
		"/orders": "order", "/v1/Companies": "company", "/access": "access",
		"/shops/{shop}/orders": "order", "/{id}": "",
	} {
		if got := objectType(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
