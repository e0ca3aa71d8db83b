package handlers_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/models"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestPostgresOutage_answers checks that requests during an outage of the database get 503 with
// Retry-After, whatever its kind, and that it is not logged as a failure of each request.
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
	for kind, begin := range testkit.ByName(outages) {
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

// TestPostgresOutage_resources has the server refuse every write, as one does whose disk is full, or that is out of
// memory or connections (PostgreSQL 18, appendix A, class 53). Reading needs none of these.
func TestPostgresOutage_resources(t *testing.T) {
	t.Parallel()
	db := openWithin(t, state.Postgres(t), models.Deadlines{})
	handler := controlplane.NewServer(t, db).Handler()
	token := workspaceKey(t, handler)
	listed := controlplane.Call(t, handler, http.MethodGet, "/api/v1/projects", token, "")
	project := fmt.Sprintf("/api/v1/projects/%s", listed.Body["items"].([]any)[0].(map[string]any)["id"])
	run := func(statement string) {
		t.Helper()
		if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	onEveryTable := func(statement string) {
		t.Helper()
		run(`DO $do$ DECLARE name text; BEGIN
			FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema() LOOP
				EXECUTE format('` + statement + `', name);
			END LOOP;
		END $do$`)
	}
	keys := func() int {
		t.Helper()
		got := controlplane.Call(t, handler, http.MethodGet, project+"/keys?limit=100", token, "")
		if got.Status != http.StatusOK {
			t.Fatalf("keys can't be read: %d %s", got.Status, got.Raw)
		}
		return len(got.Body["items"].([]any))
	}
	changes := []struct{ method, path, body string }{
		{http.MethodPost, project + "/keys", `{"owner": "billing"}`},
		{http.MethodPatch, project, `{"display_name": "Shop"}`},
		{http.MethodDelete, project + "?confirm=true", ""},
		{http.MethodPost, "/proxy", controlplane.TargetBody("http://127.0.0.1:9")},
	}
	for state, code := range testkit.ByName(map[string]string{
		"disk full": "53100", "out of memory": "53200", "too many connections": "53300", "limit of the server": "53400",
	}) {
		t.Run(state, func(t *testing.T) {
			had := keys()
			run(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
				RAISE EXCEPTION 'no more resources' USING ERRCODE = '` + code + `'; END $$`)
			onEveryTable(`CREATE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON %I ` +
				`FOR EACH STATEMENT EXECUTE FUNCTION refuse()`)
			for _, change := range changes {
				got := controlplane.Call(t, handler, change.method, change.path, token, change.body)
				if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" ||
					got.Body["code"] != "database_unavailable" {
					t.Errorf("%s %s: %d, Retry-After %q, %s, want 503 database_unavailable and when to try again",
						change.method, change.path, got.Status, got.Header.Get("Retry-After"), got.Raw)
				}
			}
			if n := keys(); n != had {
				t.Errorf("%d keys, want the %d that there were", n, had)
			}
			onEveryTable("DROP TRIGGER refuse ON %I")
			got := controlplane.Call(t, handler, http.MethodPost, project+"/keys", token, `{"owner": "billing"}`)
			if n := keys(); got.Status != http.StatusCreated || n != had+1 {
				t.Errorf("with resources again: %d %s, %d keys, want 201 and %d", got.Status, got.Raw, n, had+1)
			}
		})
	}
}
