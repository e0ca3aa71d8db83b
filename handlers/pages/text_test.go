package pages_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// PostgreSQL takes neither NUL nor what is not UTF-8, wherever it comes in.
func TestForms_invalidText(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	h := s.Server.Handler()
	made := controlplane.Call(t, h, "POST", "/proxy", "", controlplane.ShopBody)
	token, _ := made.Body["workspace_key"].(string)
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{"GET", "/api/v1/projects/%00", "", 404},
		{"GET", "/api/v1/projects/%ff", "", 404},
		{"GET", "/api/v1/keys/%00", "", 404},
		{"GET", "/api/v1/exports/%ff", "", 404},
		{"GET", "/api/v1/projects?cursor=%00", "", 400},
		{"GET", "/api/v1/projects/shop/keys?cursor=%ff", "", 400},
		{"POST", "/api/v1/projects/shop/keys", `{"owner":"x","description":"a\u0000b"}`, 422},
		{"POST", "/api/v1/projects/shop/keys", `{"owner":"x","environment":"a\u0000b"}`, 422},
		{"POST", "/api/v1/projects/shop/keys", `{"owner":"x","key_type":"a\u0000b"}`, 422},
		{"PATCH", "/api/v1/projects/shop", `{"display_name":"a\u0000b"}`, 422},
		{"POST", "/proxy", `{"target":"http://127.0.0.1:9/\u0000"}`, 422},
		{"POST", "/proxy", `{"target":"http://127.0.0.1:9","name":"\u0000"}`, 422},
	} {
		if got := controlplane.Call(t, h, c.method, c.path, token, c.body); got.Status != c.want {
			t.Errorf("%s %s %s: %d, want %d", c.method, c.path, c.body, got.Status, c.want)
		}
	}
	s.Get("/projects/%00").Shows(404, "Page not found")
	s.Get("/projects?after=%ff").Shows(400, "This request failed")
	s.Get("/welcome/%00").Shows(404, "Page not found")
	for _, typed := range []string{"\x00", "\xff"} {
		s.Post("/projects/new", "target", typed).Shows(400, "This request failed")
		s.Post("/signin", "email", typed, "password", "x").Shows(400, "This request failed")
	}
}

// A page acts on a person's own sign-in only, never on a token sent along.
func TestBearer_pages(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewBrowser(t, db)
	made := controlplane.Call(t, s.Server.Handler(), "POST", "/proxy", "", controlplane.ShopBody)
	token, _ := made.Body["workspace_key"].(string)
	if made.Status != 201 || token == "" {
		t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
	}
	s.Get("/projects/shop", "Authorization", "Bearer "+token).LeadsTo("/signin?next=%2Fprojects%2Fshop")
}
