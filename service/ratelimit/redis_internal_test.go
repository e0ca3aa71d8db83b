package ratelimit

import (
	"log/slog"
	"testing"
	"time"
)

// A slow answer does not move windows that began by a fast one. A clock that was set does.
func TestRedis_compare(t *testing.T) {
	t.Parallel()
	clock := time.Unix(1_000_000, 0)
	r := &Redis{now: func() time.Time { return clock }, log: slog.New(slog.DiscardHandler)}
	const ms = time.Millisecond
	for _, answer := range []struct {
		name  string
		there time.Duration // from the question to Redis
		back  time.Duration
		ahead time.Duration // what Redis's clock is ahead of this one
		want  time.Duration
	}{
		{"within a second", 5 * ms, 5 * ms, 900 * ms, 0},
		{"two minutes", ms, ms, 2 * time.Minute, 2 * time.Minute},
		{"slow to come back", 10 * ms, 190 * ms, 2 * time.Minute, 2 * time.Minute},
		{"slow to get there", 190 * ms, 10 * ms, 2 * time.Minute, 2 * time.Minute},
		{"set", 5 * ms, 5 * ms, -time.Minute, -time.Minute},
	} {
		sent := clock
		clock = clock.Add(answer.there + answer.back)
		r.compare(sent, sent.Add(answer.there+answer.ahead))
		if got := r.shared(clock).Sub(clock); got != answer.want {
			t.Errorf("%s: windows go by a clock that is %v ahead, want %v", answer.name, got, answer.want)
		}
	}
}
