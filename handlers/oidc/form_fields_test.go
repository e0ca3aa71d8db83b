package oidc_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Forms of people refuse fields that they do not have; requests of clients may have any.
func TestForms_unknownFields(t *testing.T) {
	t.Parallel()
	s := newLoginApp(t, state.OpenSQLite(t), contract.AppClientSettings{})
	ofClients := map[string]bool{}
	for _, below := range []string{
		"authorize", "callback/:provider", "introspect", "logout", "revoke", "token", "userinfo",
	} {
		ofClients["/oauth/:client/"+below] = true
	}
	sent := 0
	for _, route := range controlplane.Routes(s.server) {
		below, isOurs := strings.CutPrefix(route.Path, "/oauth/:client/")
		if !isOurs || route.Method != http.MethodPost {
			continue
		}
		sent++
		got := s.post(s.browser(), s.path("/"+below), url.Values{"zz_unknown": {"x"}})
		isRefused := got.status == http.StatusUnprocessableEntity &&
			strings.Contains(html.UnescapeString(got.raw), `The form has unknown fields: "zz_unknown".`)
		if isRefused == ofClients[route.Path] {
			t.Errorf("POST %s: %d, refused for the field: %t", route.Path, got.status, isRefused)
		}
	}
	if sent < 15 {
		t.Errorf("only %d forms were sent", sent)
	}
}
