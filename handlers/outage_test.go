package handlers_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/ordered"
	"postern/testkit/state"
)

// TestPostgresOutage_answers checks that an outage of the database is answered 503 with
// Retry-After, whatever its kind, and not logged as a failure of each request.
func TestPostgresOutage_answers(t *testing.T) {
	t.Parallel()
	outages := map[string]func(*testkit.Relay){
		"hangs":                          (*testkit.Relay).Hang,
		"refuses connections":            (*testkit.Relay).Refuse,
		"has cut all connections":        (*testkit.Relay).Cut,
		"has gone silent on all of them": (*testkit.Relay).Silence,
	}
	requests := []struct {
		name, method, path, accept, body string
		signedIn                         bool
	}{
		{name: "api", method: http.MethodGet, path: "/api/v1/projects", accept: "application/json", signedIn: true},
		{
			name: "anonymous proxy", method: http.MethodPost, path: "/proxy", accept: "application/json",
			body: controlplane.TargetBody("http://127.0.0.1:9"),
		},
		{name: "page", method: http.MethodGet, path: "/welcome/abc", accept: "text/html"},
		{
			name: "issuer", method: http.MethodGet, path: "/oauth/app_1/.well-known/openid-configuration",
			accept: "application/json",
		},
	}
	for kind, begin := range ordered.ByName(outages) {
		t.Run("a database that "+kind, func(t *testing.T) {
			database := state.Postgres(t)
			relay := testkit.NewRelay(t, database)
			key := workspaceKey(t, controlplane.NewServer(t, openWithin(t, database, models.Deadlines{})).Handler())
			db := openWithin(t, relay.Through(t, database), impatient)
			server := controlplane.NewServer(t, db)
			lines := &controlplane.LogBuffer{}
			server.Log = slog.New(slog.NewTextHandler(lines, nil))
			handler := server.Handler()
			testkit.Eventually(t, "it has a connection", func() bool {
				return controlplane.Call(t, handler, http.MethodGet, "/api/v1/projects", key, "").Status < 500
			})
			begin(relay)
			answered := 0
			for _, request := range requests {
				token := ""
				if request.signedIn {
					token = key
				}
				got := controlplane.Call(
					t, handler, request.method, request.path, token, request.body, "Accept", request.accept,
				)
				switch wait := got.Header.Get("Retry-After"); {
				case got.Status == http.StatusServiceUnavailable && wait != "":
					answered++
				case got.Status >= http.StatusInternalServerError:
					t.Errorf("%s: %d, Retry-After %q, %v", request.name, got.Status, wait, got.Body)
				}
			}
			if answered == 0 {
				t.Error("no request was affected by the outage")
			}
			if strings.Contains(lines.String(), "a request failed") {
				t.Errorf("a request is logged as failed by itself:\n%s", lines)
			}
		})
	}
}

// impatient deadlines end an outage soon. A busy machine may miss them without one.
var impatient = models.Deadlines{
	Statement: time.Second, Lock: 500 * time.Millisecond, Idle: 400 * time.Millisecond,
}

func openWithin(t *testing.T, databaseURL string, deadlines models.Deadlines) *models.DB {
	t.Helper()
	db, err := models.OpenWith(t.Context(), models.Options{DatabaseURL: databaseURL, Deadlines: deadlines})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func workspaceKey(t *testing.T, handler http.Handler) string {
	t.Helper()
	made := controlplane.Call(t, handler, http.MethodPost, "/proxy", "", controlplane.TargetBody("http://127.0.0.1:9"))
	key, _ := made.Body["workspace_key"].(string)
	if key == "" {
		t.Fatalf("create a proxy: %d %v", made.Status, made.Body)
	}
	return key
}
