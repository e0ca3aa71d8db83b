package handlers_test

import (
	"fmt"
	"net/http"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestDiskFull fills the disk as SQLite sees it: the file may not grow.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	db, err := models.Open(t.Context(), "", state.SQLite(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	handler := controlplane.NewServer(t, db).Handler()
	token := workspaceKey(t, handler)
	listed := controlplane.Call(t, handler, http.MethodGet, "/api/v1/projects", token, "")
	keys := fmt.Sprintf("/api/v1/projects/%s/keys", listed.Body["items"].([]any)[0].(map[string]any)["id"])
	allow := func(pages string) {
		t.Helper()
		// The connection that writes is the only one of its pool.
		if _, err := db.SQL().ExecContext(t.Context(), "PRAGMA max_page_count = "+pages); err != nil {
			t.Fatal(err)
		}
	}
	allow("1") // which SQLite takes for as many as there are
	created := 0
	for ; ; created++ {
		got := controlplane.Call(t, handler, http.MethodPost, keys, token, `{"owner": "billing"}`)
		if got.Status == http.StatusCreated && created < 10_000 {
			continue
		}
		if got.Status != http.StatusServiceUnavailable || got.Header.Get("Retry-After") == "" {
			t.Fatalf("key %d: %d, Retry-After %q, want 503 and when to try again: %s",
				created, got.Status, got.Header.Get("Retry-After"), got.Raw)
		}
		break
	}
	count := func() (n int) {
		t.Helper()
		for path := keys + "?limit=100"; ; {
			got := controlplane.Call(t, handler, http.MethodGet, path, token, "")
			if got.Status != http.StatusOK {
				t.Fatalf("a full disk keeps keys from being read: %d %s", got.Status, got.Raw)
			}
			n += len(got.Body["items"].([]any))
			cursor, _ := got.Body["next_cursor"].(string)
			if cursor == "" {
				return n
			}
			path = keys + "?limit=100&cursor=" + cursor
		}
	}
	if n := count(); n != created {
		t.Errorf("%d keys are listed, want the %d that were acknowledged", n, created)
	}
	allow("1000000")
	if got := controlplane.Call(t, handler, http.MethodPost, keys, token, `{"owner": "billing"}`); got.Status != 201 {
		t.Errorf("once there is room again: %d %s", got.Status, got.Raw)
	}
	if n := count(); n != created+1 {
		t.Errorf("%d keys are listed, want %d", n, created+1)
	}
}
