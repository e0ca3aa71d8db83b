package handlers_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Probes are answered without a query.
func TestReadiness(t *testing.T) {
	t.Parallel()
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	broken := errors.New("secret detail")
	for name, tt := range map[string]struct {
		note   string
		err    error
		status int
		body   string
	}{
		"ready":              {"", nil, http.StatusOK, "ready\n"},
		"ready, with a note": {"one project waits", nil, http.StatusOK, "ready, but one project waits\n"},
		"not ready":          {"", broken, http.StatusServiceUnavailable, "not ready\n"},
		"not ready, a note":  {"degraded", broken, http.StatusServiceUnavailable, "not ready: degraded\n"},
	} {
		t.Run(name, func(t *testing.T) {
			server.Roles = "worker"
			server.Ready = func(context.Context) (string, error) { return tt.note, tt.err }
			got := controlplane.Call(t, server.Handler(), http.MethodGet, "/readyz", "", "")
			if got.Status != tt.status {
				t.Errorf("status %d, want %d", got.Status, tt.status)
			}
			if want := tt.body + "roles: worker\n"; got.Raw != want {
				t.Errorf("body %q, want %q", got.Raw, want)
			}
		})
	}
}
