package pages_test

import (
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Objects of another team get the same answer as objects that don't exist, on every page.
func TestErrorPage_otherTeam(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	made := controlplane.Call(t, s.Server.Handler(), "POST", "/proxy", "", controlplane.ShopBody)
	if made.Status != 201 {
		t.Fatalf("POST /proxy: %d %s", made.Status, made.Raw)
	}
	missing := s.Get("/projects/none").Shows(404, "Page not found")
	for _, path := range []string{"/projects/shop", "/projects/shop/export"} {
		foreign := s.Get(path).Shows(404, "Page not found")
		got, want := foreign.Find("main p").Text(), missing.Find("main p").Text()
		if controlplane.Clean(got) != controlplane.Clean(want) {
			t.Errorf("%s: the page says %q, want what a missing project says: %q", path, got, want)
		}
	}
	for path, form := range map[string][]string{
		"/projects/shop/settings": {"display_name", "x"},
		"/projects/shop/keys":     {"owner", "x"},
		"/projects/shop/export":   {"format", "data"},
	} {
		s.Post(path, form...).Shows(404, "Page not found")
	}
}

func TestErrorPage_formats(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	s.Get("/nowhere").Shows(404, "Page not found").Lacks("#request-id")
	s.Post("/projects/new", "target", strings.Repeat("x", 1<<20)).
		Shows(413, "This request failed").
		Says("main", "1 MiB")
	if got := s.Get("/theme").Shows(405, "This request failed"); got.Header.Get("Allow") != "POST" {
		t.Errorf("Allow is %q", got.Header.Get("Allow"))
	}
	if got := s.Get("/nowhere", "Accept", "*/*"); got.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a program got %s", got.Header.Get("Content-Type"))
	}
}

func TestErrorPage_brokenDatabase(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s := controlplane.NewOwner(t, db)
		if _, err := db.SQL().ExecContext(t.Context(), "DROP TABLE tokens"); err != nil {
			t.Fatal(err)
		}
		got := s.Get("/projects").Shows(500, "Something went wrong on the server")
		got.Says("#request-id", got.Header.Get("X-Request-Id"))
		if strings.Contains(got.Raw, "tokens") || got.Header.Get("X-Request-Id") == "" {
			t.Error("the page tells the cause, or the answer has no request id")
		}
	})
}
