package handlers_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// allowedCrossOrigin has the writes that other sites may send. All others must be refused.
var allowedCrossOrigin = map[string]bool{
	"POST /oauth/:client/token":     true,
	"POST /oauth/:client/revoke":    true,
	"POST /oauth/:client/userinfo":  true,
	"POST /oauth/:client/logout":    true,
	"POST /oauth/:client/authorize": true,

	"POST /oauth/:client/callback/:provider":            true,
	"POST /signin/:provider/callback":                   true,
	"PUT /oauth/:client/groups/:group/members/:user":    true,
	"DELETE /oauth/:client/groups/:group/members/:user": true,
}

// crossOrigin has the headers that browsers send with a write from another site: current
// ones Sec-Fetch-Site (Fetch Metadata), older ones only Origin (RFC 6454, 7).
var crossOrigin = map[string][]string{
	"cross-site":                {"Sec-Fetch-Site", "cross-site"},
	"same-site":                 {"Sec-Fetch-Site", "same-site"},
	"cross-site, own origin":    {"Sec-Fetch-Site", "cross-site", "Origin", "the own"},
	"a foreign origin":          {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
	"a null origin":             {"Sec-Fetch-Site", "", "Origin", "null"},
	"the own name in a foreign": {"Sec-Fetch-Site", "", "Origin", "https://127.0.0.1.evil.example"},
}

// TestRoutes_crossOrigin sends every write from another site in the owner's session: it is
// refused and changes nothing.
func TestRoutes_crossOrigin(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	s.Submit("/projects/new", "target", "http://127.0.0.1:9", "name", "shop", "require_keys", "true").
		Shows(200, "shop is ready")
	asked := map[string]bool{}
	for _, route := range controlplane.Routes(s.Server) {
		if isSafe(route.Method) {
			continue
		}
		name := route.Method + " " + route.Path
		asked[name] = true
		for what, header := range crossOrigin {
			got := s.Do(
				route.Method, filledIn(route.Path), "name=planted&email=eve%40evil.example",
				ownSite(s, header),
			)
			refused := got.Status == http.StatusForbidden && strings.Contains(got.Raw, "another site")
			if refused == allowedCrossOrigin[name] {
				t.Errorf("%s, %s: %d %.200q", name, what, got.Status, got.Raw)
			}
		}
	}
	for name := range allowedCrossOrigin {
		if !asked[name] {
			t.Errorf("%s is declared here and is not a route", name)
		}
	}
	s.Get("/projects").Shows(200, "Projects").Says("main", "shop") // still signed in
	s.Do(http.MethodPost, "/signout", "", ownSite(s, []string{"Sec-Fetch-Site", "", "Origin", "the own"})).
		LeadsTo("/signin")
}

func isSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// ownSite replaces "the own" in a header by the server's origin.
func ownSite(s *controlplane.Browser, header []string) []string {
	var out []string
	for _, text := range header {
		if text == "the own" {
			text = s.URL
		}
		out = append(out, text)
	}
	return out
}
