package api_test

import (
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestTests_refused asks for tests that are refused more often than tests may run within a minute.
func TestTests_refused(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewServer(t, db)
	owner := controlplane.SignUpOwner(t, s)
	for range 25 {
		got := controlplane.Call(t, s.Handler(), "POST", "/api/v1/providers/prv_other/test", "", "", owner...)
		if got.Status != 404 {
			t.Fatalf("a provider that does not exist: %d %s, want 404", got.Status, got.Raw)
		}
	}
}
