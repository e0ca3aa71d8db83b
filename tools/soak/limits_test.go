package main

import (
	"slices"
	"testing"
	"time"
)

// second are calls with a key that admits three a second, in the second from 100,000 ms.
func second(outcomes ...verdict) (out []limitedCall) {
	for i, o := range outcomes {
		sent := 100_000 + 10*i
		out = append(out, limitedCall{sent: at(sent), answered: at(sent + 5), outcome: o})
	}
	return out
}

func TestLimits_verdicts(t *testing.T) {
	const yes, no, unanswered = admitted, overLimit, verdict("")
	up, down := at(100_500), at(99_000)
	again := limitedCall{sent: at(100_000), answered: at(100_001), outcome: yes, tries: 2}
	closed := func(starts time.Time) []redisAway {
		return []redisAway{{interval: interval{from: down, until: at(102_000)}, refusing: true, starts: starts}}
	}
	long := limitedCall{sent: at(100_000), answered: at(101_500), outcome: yes}
	for name, tt := range map[string]struct {
		calls   []limitedCall
		away    []redisAway
		wrong   int
		exactly bool // one count decided
	}{
		"as many as the limit":      {calls: second(yes, yes, yes, no, no), exactly: true},
		"one more":                  {calls: second(yes, yes, yes, yes), wrong: 1, exactly: true},
		"refused too early":         {calls: second(yes, yes, no), wrong: 1, exactly: true},
		"one may have been counted": {calls: second(yes, yes, unanswered, no), exactly: true},
		"refused before the third":  {calls: second(yes, yes, no, yes), wrong: 1, exactly: true},
		"sent again by the client: both may have been counted": {
			calls: append([]limitedCall{again}, second(yes, no)...), exactly: true,
		},
		"sent again, and refused too early": {
			calls: append([]limitedCall{again}, second(no)...), wrong: 1, exactly: true,
		},
		"in the next second, or not": {
			calls:   append(second(yes, yes, yes), limitedCall{sent: at(100_990), answered: at(101_010), outcome: yes}),
			exactly: true,
		},
		"a slow call: its gateway may have counted alone": {calls: append(second(yes, yes, yes, yes, yes), long)},

		"Redis is away, each counts": {
			calls: second(slices.Repeat([]verdict{yes}, 9)...),
			away:  []redisAway{{interval: interval{from: down, until: up}}},
		},
		"Redis is away, more than each": {
			calls: second(slices.Repeat([]verdict{yes}, 10)...),
			away:  []redisAway{{interval: interval{from: down, until: up}}},
			wrong: 1,
		},
		"Redis was away": {
			calls:   second(yes, yes, yes, yes),
			away:    []redisAway{{interval: interval{from: down, until: at(99_900)}}},
			wrong:   1,
			exactly: true,
		},
		"Redis has unanswered its counts": {
			calls: second(slices.Repeat([]verdict{yes}, 6)...),
			away:  []redisAway{{interval: interval{from: at(100_030), until: up}, refusing: true, emptied: true}},
		},
		"Redis has unanswered its counts, and one more": {
			calls: second(slices.Repeat([]verdict{yes}, 7)...),
			away:  []redisAway{{interval: interval{from: at(100_030), until: up}, refusing: true, emptied: true}},
			wrong: 1,
		},
		"admitted uncounted": {
			calls: second(yes),
			away:  closed(at(101_000)),
			wrong: 1, exactly: true,
		},
		"admitted when Redis has just been started": {
			calls:   second(yes),
			away:    closed(at(99_500)),
			exactly: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &limits{keys: []*limitedKey{{window: time.Second, limit: 3, calls: tt.calls}}, away: tt.away}
			got := l.judge(2)
			if len(got.wrong) != tt.wrong {
				t.Errorf("%d are wrong, want %d: %v", len(got.wrong), tt.wrong, got.wrong)
			}
			if tt.exactly != (got.exact == got.windows) {
				t.Errorf("%d windows, %d of them by one count", got.windows, got.exact)
			}
		})
	}
}
