package handlers_test

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"postern/handlers"
	"postern/handlers/web"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// loggedAddress creates a project with the header X-Forwarded-For and returns the caller's
// address in the audit log.
func loggedAddress(t *testing.T, server *handlers.Server, forwardedFor string) string {
	t.Helper()
	listener := httptest.NewServer(server.Handler())
	defer listener.Close()
	ask := func(method, path, body, token string, answer any) {
		r, err := http.NewRequestWithContext(t.Context(), method, listener.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Forwarded-For", forwardedFor)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := listener.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err = errors.Join(err, json.Unmarshal(text, answer)); err != nil || resp.StatusCode >= 300 {
			t.Fatalf("%s %s: %d %s, %v", method, path, resp.StatusCode, text, err)
		}
	}
	var made struct {
		WorkspaceKey string `json:"workspace_key"`
	}
	ask("POST", "/proxy", `{"target": "http://127.0.0.1:1", "name": "shop"}`, "", &made)
	var log struct {
		Entries []struct{ Address string } `json:"items"`
	}
	ask("GET", "/api/v1/audit", "", made.WorkspaceKey, &log)
	if len(log.Entries) == 0 {
		t.Fatal("nothing is in the audit log")
	}
	address := log.Entries[0].Address
	if host, port, err := net.SplitHostPort(address); err == nil {
		if port == "0" {
			t.Errorf("%s: the log has the unknown port", address)
		}
		return host
	}
	return address // of a proxied caller, without a port
}

func TestClientAddress_trustedProxy(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	server := controlplane.NewServer(t, db)
	server.Config.Trusted = []netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("10.0.0.0/8"),
	}
	if got := loggedAddress(t, server, "198.51.100.66, 203.0.113.7, 10.0.0.1"); got != "203.0.113.7" {
		t.Errorf("behind a trusted proxy: %s", got)
	}
}

func TestClientAddress_untrustedProxy(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	server := controlplane.NewServer(t, db)
	server.Config.Trusted = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	if got := loggedAddress(t, server, "203.0.113.7"); got != "127.0.0.1" {
		t.Errorf("from an address that is not trusted: %s", got)
	}
}

// endless writes until a write fails, and sends the error.
func endless(ended chan<- error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 1<<20)
		for { // more than any socket buffer holds
			if _, err := w.Write(piece); err != nil {
				ended <- err
				return
			}
		}
	}
}

func TestStallTimeout_stalledDownload(t *testing.T) {
	t.Parallel()
	ended := make(chan error, 1)
	listener := httptest.NewServer(web.StallTimeout(50*time.Millisecond, endless(ended)))
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the download ended with %v", err)
	}
}

// stalling checks that each write has the whole timeout.
type stalling struct {
	*httptest.ResponseRecorder

	t        *testing.T
	timeout  time.Duration
	deadline time.Time
}

func (s *stalling) SetWriteDeadline(at time.Time) error {
	s.deadline = at
	return nil
}

func (s *stalling) Write(b []byte) (int, error) {
	if left := time.Until(s.deadline); left != s.timeout {
		s.t.Errorf("the write of %q has %s, want %s", b, left, s.timeout)
	}
	return s.ResponseRecorder.Write(b)
}

// TestStallTimeout_slowHandler checks that the time until a write, and that of an earlier
// answer on the connection, do not count.
func TestStallTimeout_slowHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = time.Minute
		to := &stalling{ResponseRecorder: httptest.NewRecorder(), t: t, timeout: timeout}
		slow := web.StallTimeout(timeout, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(3 * timeout)
			_, _ = io.WriteString(w, "a")
			http.NewResponseController(w).Flush()
			time.Sleep(3 * timeout)
			_, _ = io.WriteString(w, "b")
			time.Sleep(3 * timeout)
		}))
		for range 2 {
			slow.ServeHTTP(to, httptest.NewRequest(http.MethodGet, "/", nil))
			if left := time.Until(to.deadline); left != timeout {
				t.Errorf("what is buffered has %s, want %s", left, timeout)
			}
		}
		if got := to.Body.String(); got != "abab" {
			t.Errorf("the handler wrote %q", got)
		}
	})
}
