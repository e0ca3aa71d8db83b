package pages_test

import (
	"net/url"
	"testing"

	"postern/testkit/state"
)

func TestExplain_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := newLoginTab(t, db)
	const rulesPage = "/projects/shop/versions/1.0.0/rules"
	revision := s.Get(rulesPage).Find("[name=revision]").AttrOr("value", "")
	s.Post(rulesPage, "revision", revision, "default", "allow", "rules_mode", "enforce",
		"rules", "GET /orders/{id} scopes=orders:read").LeadsTo(rulesPage)

	const page = "/projects/shop/explain"
	s.Get(page).Shows(200, "Explain a call").Says("main", "Path after the gateway URL")
	ask := func(query ...string) string {
		values := url.Values{}
		for i := 0; i < len(query); i += 2 {
			values.Set(query[i], query[i+1])
		}
		return page + "?" + values.Encode()
	}
	s.Get(ask("path", "/orders/42")).
		Shows(200, "Explain a call").
		Says("main", "GET /orders/42").
		Says("main", "404 no_route").
		Says("main", "The Route step refuses the call.").
		Says("#explain-command", "postern explain shop GET /orders/42")
	s.Get(ask("path", "/orders/42?limit=1", "method", "GET")).Shows(200, "Explain a call").Says("main",
		"404 no_route")
	s.Get(ask("path", "/orders/42", "method", "TRACE")).Shows(422, "Explain a call").Says("main",
		"TRACE are never forwarded")
	s.Get(ask("path", "orders")).
		Shows(422, "Explain a call").
		Says("#explain-path-error", "Start the path with a slash")
	s.Get(ask("path", "/a", "version", "9.9.9")).Shows(422, "Explain a call").Says("#explain-version-error",
		`This project has no version "9.9.9". Its versions: 1.0.0.`)
	s.Get(ask("path", "/a", "key", "key_none")).Shows(422, "Explain a call").
		Says("#explain-key-error", "Use the ID of one of the project's keys.")
	s.Get(ask("path", "/a", "version", "1.0.0", "environment", "prod", "host", "api.example.com")).
		Shows(422, "Explain a call").
		Says("#explain-host-error", "Use the host name of one of the project's custom domains.")
	s.Get(ask("path", "/it's $(here)")).Says("#explain-command", `'/it'\''s $(here)'`)
}
