package handlers_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestSecureHeaders_strictTransportSecurity(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	for publicURL, want := range map[string]string{
		"https://postern.example":      "max-age=31536000",
		"https://postern.example:8443": "max-age=31536000",
		"http://postern.example":       "",
		"https://localhost:8443":       "",
	} {
		s := controlplane.NewServer(t, db)
		s.Config.PublicURL = publicURL
		h := s.Handler()
		for _, path := range []string{
			"/signin",
			"/oauth/cli_unknown/authorize",
			"/api/v1/projects",
			"/static/none.css",
		} {
			got := controlplane.Call(t, h, "GET", path, "", "").Header.Get("Strict-Transport-Security")
			if got != want {
				t.Errorf("%s%s: %q, want %q", publicURL, path, got, want)
			}
		}
	}
}
