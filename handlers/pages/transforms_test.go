package pages_test

import (
	"testing"

	"postern/testkit/state"
)

func TestTransforms_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := newLoginTab(t, db)
	const page, title = "/projects/shop/versions/1.0.0/transforms", "Transforms for version 1.0.0"
	s.Get(page).Shows(200, title).Lacks("table")
	old := s.Get(page).Find("[name=revision]").AttrOr("value", "")
	form := func(revision, lines string) []string { return []string{"revision", revision, "transforms", lines} }
	s.Post(page, form(old, "request add X-A:1\nrequest put X-B:1")...).
		Shows(422, title).
		Says("#transforms-lines-error", "Line 2: Start with request, query, request-body").
		Says("#transforms-lines", "request put X-B:1")
	s.Post(page, form(old, "request add X-A:1\n\n\nresponse add X-B")...).
		Says("#transforms-lines-error", "Line 4: Use a header and a value")
	s.Post(page, form(old, "request add X-A:1\nresponse add X-B\nrequest remove Host\nquery add x\n"+
		"response-body add number n: two")...).
		Shows(422, title).
		Says("#transforms-lines-error", "Line 2: Use a header and a value").
		Says("#transforms-lines-error", "Line 3: Transforms can't change Host").
		Says("#transforms-lines-error", "Line 4: Use a name and a value").
		Says("#transforms-lines-error", "Line 5: Use a JSON number")
	s.Post(page, form(old, "request add X-Source: the shop\nResponse rename X-Powered-By:X-Upstream\n"+
		"request remove Cookie\nquery add page: 1\nrequest-body add source: shop\n"+
		"response-body add number version: 2\nresponse-body add by: x")...).
		LeadsTo(page)
	s.Get(page).
		Says("[data-flash]", "Saved the transforms for shop").
		Says("tbody", "X-Source").
		Says("tbody", "the shop").
		Says("#transforms-lines",
			"request remove Cookie request add X-Source: the shop query add page: 1 request-body add source: shop "+
				"response rename X-Powered-By: X-Upstream response-body add number version: 2 response-body add "+
				"by: x").
		Says("tbody", "(number)")
	s.Post(page, form(old, "request remove Referer")...).
		Shows(412, title).
		Says("main", "changed since you opened").
		Says("#transforms-lines", "request remove Referer")
	now := s.Get(page).Find("[name=revision]").AttrOr("value", "")
	s.Post(page, form(now, "")...).LeadsTo(page)
	s.Get(page).Lacks("table")
	s.Get("/audit").Says("main", "transforms of version 1.0.0")
}
