package calls

import (
	"testing"
	"time"
)

func TestCallTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 0, 30, 0, 0, time.UTC)
	for _, tc := range []struct {
		at   time.Time
		want string
	}{
		{time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), "00:00:00.000"},
		{time.Date(2026, 3, 2, 0, 29, 47, 925e6, time.UTC), "00:29:47.925"},
		{time.Date(2026, 3, 2, 2, 29, 0, 0, time.FixedZone("", 2*60*60)), "00:29:00.000"},
		{time.Date(2026, 3, 1, 23, 59, 59, 999e6, time.UTC), "1 Mar 2026, 23:59:59.999"},
		{time.Date(2026, 3, 2, 1, 0, 0, 0, time.FixedZone("", 2*60*60)), "1 Mar 2026, 23:00:00.000"},
		{time.Date(2025, 3, 2, 0, 30, 0, 0, time.UTC), "2 Mar 2025, 00:30:00.000"},
	} {
		if got := callTime(tc.at, now); got != tc.want {
			t.Errorf("%s is %q, want %q", tc.at, got, tc.want)
		}
	}
}
