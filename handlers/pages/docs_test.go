package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestDocs(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	for _, signedIn := range []bool{true, false} {
		if !signedIn {
			s.ClearCookies()
		}
		s.Get("/docs").Shows(200, "Documentation").Says("main", "Quick start")
		s.Get("/docs/quick-start").Shows(200, "Quick start").Says("article", s.Server.Config.PublicURL+"/proxy")
		s.Get("/docs/portability").Shows(200, "How each item is exported").Says("article", "trailers")
		s.Get("/docs?q=rate+limits").Shows(200, "Results for “rate limits”").Says("main", "Keys and limits")
		s.Get("/docs?q=list+api+keys").Shows(200, "Results for “list api keys”").Says("main",
			"/api/v1/projects/{project}/keys")
		s.Get("/docs?q=nosuchword").Shows(200, "Nothing found")
		s.Get("/docs/reference").Shows(200, "API reference").Says("main", "Create an API key")
		s.Get("/docs/reference/keys").Shows(200, "Keys").Says("main", "Rotate").
			Says("main", "Response 4XX: The request was refused or failed.")
		s.Get("/docs/notices").Shows(200, "Third-party notices").Says("article", "github.com/gin-gonic/gin")
		s.Get("/docs/nothing").Shows(404, "Page not found")
		s.Get("/docs/reference/nothing").Shows(404, "Page not found")
	}
}
