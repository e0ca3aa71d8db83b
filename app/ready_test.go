package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/testkit"
	"postern/testkit/state"
)

// While another process holds the lock of SQLite's file, the server is ready, and changes are told to come back.
func TestReadiness_databaseLocked(t *testing.T) {
	c := settings(t.TempDir(), "")
	c.Database.QueueTimeout = 10 * time.Millisecond
	a := newApp(t, c)
	during(t, a, func(browser *http.Client) {
		const says = "changes have to wait, because another process"
		other := state.OtherWriter(t, c.SQLitePath())
		other("BEGIN IMMEDIATE")
		change := func() *http.Response {
			t.Helper()
			body := strings.NewReader(`{"name": "shop", "target": "http://127.0.0.1:1"}`)
			answer, err := browser.Post(a.Config.PublicURL+"/proxy", "application/json", body)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			return answer
		}
		ready := func() string {
			status, body := get(t, browser, a.Config.PublicURL+"/readyz")
			if status != http.StatusOK {
				t.Errorf("readiness: %d %s", status, body)
			}
			return body
		}
		testkit.Eventually(t, "a change is refused because of the lock", func() bool { // others wait for their turn
			answer := change()
			if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" {
				t.Fatalf("a change gets %s", answer.Status)
			}
			return strings.Contains(ready(), says)
		})
		other("ROLLBACK")
		testkit.Eventually(t, "a change is made", func() bool { return change().StatusCode == http.StatusCreated })
		testkit.Eventually(t, "changes don't wait", func() bool { return !strings.Contains(ready(), says) })
	})
}
