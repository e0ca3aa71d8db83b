package handlers_test

import (
	"testing"

	"postern/models"
	"postern/testkit/state"
)

// PostgreSQL takes neither NUL nor what is not UTF-8, wherever it comes in.
func TestWhatIsNoTextIsRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newOwner(t, db)
		h := s.server.Handler()
		made := call(t, h, "POST", "/proxy", "", shop)
		token, _ := made.body["workspace_key"].(string)
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
			if got := call(t, h, c.method, c.path, token, c.body); got.status != c.want {
				t.Errorf("%s %s %s: %d, want %d", c.method, c.path, c.body, got.status, c.want)
			}
		}
		s.get("/projects/%00").is(404, "There is nothing here")
		s.get("/projects?after=%ff").is(400, "This request could not be answered")
		s.get("/welcome/%00").is(404, "There is nothing here")
		for _, typed := range []string{"\x00", "\xff"} {
			s.post("/projects/new", "target", typed).is(400, "This request could not be answered")
			s.post("/signin", "email", typed, "password", "x").is(400, "This request could not be answered")
		}
	})
}

// A page acts on a person's own sign-in only, never on a token sent along.
func TestPagesTakeNoBearerTokens(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := newSite(t, db)
		made := call(t, s.server.Handler(), "POST", "/proxy", "", shop)
		token, _ := made.body["workspace_key"].(string)
		if made.status != 201 || token == "" {
			t.Fatalf("POST /proxy: %d %s", made.status, made.raw)
		}
		s.get("/projects/shop", "Authorization", "Bearer "+token).leadsTo("/signin?next=%2Fprojects%2Fshop")
	})
}
