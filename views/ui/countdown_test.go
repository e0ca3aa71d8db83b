package ui

import (
	"testing"
	"time"
)

func TestTimeLeft(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 25, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		left time.Duration
		want string
	}{
		{-time.Second, "a moment"},
		{30 * time.Second, "less than a minute"},
		{time.Minute, "1 minute"},
		{2*time.Hour + 5*time.Minute, "2 hours and 5 minutes"},
		{24*time.Hour + 3*time.Minute, "1 day"},
		{7*24*time.Hour - 30*time.Minute - time.Second, "6 days and 23 hours"},
		{7*24*time.Hour - time.Second, "7 days"},
		{24*time.Hour - time.Second, "1 day"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			t.Parallel()
			if got := timeLeft(now.Add(tt.left), now); got != tt.want {
				t.Errorf("%v: %q, want %q", tt.left, got, tt.want)
			}
		})
	}
}
