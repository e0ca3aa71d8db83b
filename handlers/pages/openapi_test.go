package pages_test

import (
	"strings"
	"testing"

	"postern/testkit/state"
)

const shopDocument = `openapi: 3.0.3
info: {title: Shop API, version: 2.1.0}
paths:
  /orders: {post: {responses: {201: {description: made}}}}
  /orders/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get: {summary: One order, responses: {200: {description: fine}}}
`

func TestOpenAPI_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := newLoginTab(t, db)
	const page = "/projects/shop/versions/1.0.0/openapi"
	const title = "OpenAPI document for version 1.0.0"
	s.Get(page).Shows(200, title).Says("main", "No document yet")
	s.Post(page).Shows(422, title).Says("#openapi-url-error", "Enter the URL of a document")
	s.Post(page, "openapi_document", `{"swagger":"1.2"}`).
		Shows(422, title).
		Says("#openapi-document-error", "isn't supported").
		Says("#openapi-document", `{"swagger":"1.2"}`)
	s.Post(page, "openapi_url", "http://169.254.169.254/").
		Shows(422, title).
		Says("#openapi-url-error", "isn't a public address")
	s.Post(page, "openapi_document", shopDocument).LeadsTo(page)
	s.Get(page).
		Says("[data-flash]", "Imported").
		Says("main", "Shop API 2.1.0").
		Says("tbody", "One order").
		Says("tbody", "/orders/{id}")
	s.Get(page+"?q=one+order").Says("tbody", "One order")
	s.Get(page+"?q=nothing").Says("main", "No operations found")
	s.Get(page+"/operation?method=GET&path=/orders/%7Bid%7D").
		Shows(200, "GET /orders/{id}").
		Says("main", "One order").
		Says("tbody", "path, string").
		Says("main", "fine")
	s.Post(page, "openapi_document", strings.Replace(shopDocument, "2.1.0", "2.0", 1)).LeadsTo(page)
	s.Get(page).Says("[data-warning]", "An unquoted value was read as a number")
	s.Get(page+"/operation?method=PUT&path=/other").Shows(404, "Page not found")
	s.Post(page+"/settings", "validation", "later").Shows(422, title).Says("main", "Use off, report or enforce")
	s.Post(page+"/settings", "validation", "enforce", "revision", "stale").Shows(412, title)
	s.Post(page+"/settings", "validation", "enforce", "publication", "public").LeadsTo(page)
	s.Get(page).Says("[data-flash]", "Saved the OpenAPI settings").
		Lacks("#openapi-validation-off[checked]").
		Lacks("#openapi-publication-off[checked]")
	s.Get("/projects/shop/versions/1.0.0/rules?proposed=true").
		Says("main", "2 proposed rules from the OpenAPI document were added below in shadow mode.").
		Says("main", "doesn't name any scopes").
		Says("#rules-lines", "GET /orders/{id} scopes=orders:read mode=shadow")
	const rulesPage = "/projects/shop/versions/1.0.0/rules"
	revision := s.Get(rulesPage).Find("[name=revision]").AttrOr("value", "")
	s.Post(rulesPage, "revision", revision, "default", "deny", "rules_mode", "enforce", "rules",
		"GET /orders/{key}").
		LeadsTo(rulesPage)
	s.Get(rulesPage+"?proposed=true").
		Says("main", "1 proposed rule from the OpenAPI document was added below in shadow mode.").
		Says("#rules-lines", "GET /orders/{key}")
	s.Post(page, "openapi_document", shopDocument, "revision", "stale").
		Shows(412, title).
		Says("main", "changed since you opened")
	s.Post(page+"/remove").Shows(422, title).Says("main", "Check the box")
	s.Post(page+"/remove", "confirm", "true").LeadsTo(page)
	s.Get(page).Says("main", "No document yet")
	s.Get("/audit").Says("main", "OpenAPI document of version 1.0.0")
}
