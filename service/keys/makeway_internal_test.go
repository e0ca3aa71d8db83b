package keys

import (
	"testing"
	"time"
)

func TestPauseAfter(t *testing.T) {
	const work = 80 * time.Millisecond
	for _, tt := range []struct {
		name        string
		work, since time.Duration
		calls       uint64
		want        time.Duration
	}{
		{"no calls", work, work, 0, 0},
		{"one call", work, work, 1, 0},
		{"a call now and then", work, 10 * time.Second, 200, 0},
		{"calls", work, work, 3, 560 * time.Millisecond},
		{"calls during the last pause", work, 640 * time.Millisecond, 64, 560 * time.Millisecond},
		{"a long batch", time.Second, time.Second, 1000, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := pauseAfter(tt.work, tt.calls, tt.since); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
