package gateway

import (
	"log/slog"
	"testing"

	"postern/core/policy"
	"postern/platform/turns"
)

// If a document can't be compiled in time, the refusal says so, and doesn't blame the memory for bodies.
func TestUncompiled(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		enforce bool
		want    policy.Denial
		after   int64
	}{
		"enforced":      {true, policy.Compiling, 1},
		"only reported": {false, policy.Denial{}, 0},
	} {
		c := call{gateway: &Gateway{log: slog.New(slog.DiscardHandler)}, route: route{
			project:     &project{},
			version:     &version{description: &description{enforce: tc.enforce}},
			environment: &environment{health: &health{}},
		}}
		got, refused := c.uncompiled(turns.ErrBusy)
		if got != tc.want || refused != tc.enforce || c.retryAfter != tc.after {
			t.Errorf("%s: %v, %v, Retry-After %d", name, got, refused, c.retryAfter)
		}
	}
	if policy.Compiling.Code != policy.Busy.Code || policy.Compiling.Message == policy.Busy.Message {
		t.Errorf("%v and %v", policy.Compiling, policy.Busy)
	}
}
