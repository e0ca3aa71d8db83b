package usage

import (
	"testing"
	"time"
)

// A connection's calls are counted right with the cache of its last call, whatever they
// have in common with it, and whenever the counters are taken in between.
func TestConnection_cache(t *testing.T) {
	counters, at := newShards(3), time.Date(2030, 1, 1, 9, 59, 59, 0, time.UTC)
	var callers [3]last
	want, got := tally{}, tally{}
	for i := range 500 {
		call := Call{
			ProjectID:     "prj_1",
			EnvironmentID: "env_1",
			Owner:         "billing",
			CredentialID:  "key_1",
			Route:         "/*",
			Status:        200,
			BytesIn:       1,
			BytesOut:      int64(i),
			Start:         at.Add(time.Duration(i) * time.Millisecond),
		}
		if i%7 == 0 {
			call.CredentialID = "key_2"
		}
		if i%11 == 0 {
			call.Status = 404
		}
		var cached *last
		if caller := i % 4; caller < len(callers) {
			cached = &callers[caller]
		}
		counters.record(&call, cached)
		began := call.Start.Unix()
		held(want, &counter{
			hour:        began / 3600,
			project:     "prj_1",
			environment: "env_1",
			owner:       "billing",
			key:         call.CredentialID,
			route:       "/*",
			class:       int64(call.Status / 100),
		}).add(sums{1, 1, int64(i), began})
		switch i % 50 {
		case 20:
			got.merge(counters.take())
		case 40:
			taken := counters.take()
			counters.giveBack(taken)
		}
	}
	got.merge(counters.take())
	if len(got) != len(want) {
		t.Errorf("%d rows, want %d", len(got), len(want))
	}
	for at, s := range want {
		if got[at] == nil || *got[at] != *s {
			t.Errorf("%+v: %+v, want %+v", at, got[at], s)
		}
	}
}
