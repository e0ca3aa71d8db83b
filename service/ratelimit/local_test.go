package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// realm limits keys and the project as said.
func realm(key, project snapshot.Limits) *policy.Realm {
	return policy.NewRealm(&snapshot.Project{ID: "prj_1", Limits: snapshot.ProjectLimits{Key: key, Project: project}})
}

// take counts one call with the key at the time.
func take(t testing.TB, limiter limiter, r *policy.Realm, key string, at time.Time) *policy.Tally {
	t.Helper()
	var tally policy.Tally
	r.Tally(&tally, &policy.Identity{CredentialID: key}, &snapshot.Key{}, "192.0.2.7", at)
	if err := limiter.Take(context.Background(), &tally); err != nil {
		t.Fatal(err)
	}
	return &tally
}

func TestTake_limit(t *testing.T) {
	each(t, func(t *testing.T, limiter limiter) {
		r := realm(snapshot.Limits{snapshot.Minute: 3}, snapshot.Limits{})
		for i := range 3 {
			tally := take(t, limiter, r, "key_1", noon.Add(time.Duration(i)*time.Second))
			if tally.Refused || tally.Shares()[0].Left[snapshot.Minute] != int64(2-i) {
				t.Fatalf("call %d: refused %v, left %d", i, tally.Refused, tally.Shares()[0].Left[snapshot.Minute])
			}
		}
		for _, at := range []time.Duration{3 * time.Second, 60*time.Second - 1} {
			if tally := take(t, limiter, r, "key_1", noon.Add(at)); !tally.Refused ||
				tally.Shares()[0].Left[snapshot.Minute] != 0 {
				t.Errorf("after %v: admitted, left %d", at, tally.Shares()[0].Left[snapshot.Minute])
			}
		}
		if take(t, limiter, r, "key_2", noon).Refused {
			t.Error("another key is refused")
		}
		if tally := take(t, limiter, r, "key_1", noon.Add(time.Minute)); tally.Refused ||
			tally.Shares()[0].Left[snapshot.Minute] != 2 {
			t.Error("the next minute begins with what the last has left")
		}
	})
}

// A call that one window refuses counts in no other window.
func TestTake_refusedCall(t *testing.T) {
	each(t, func(t *testing.T, limiter limiter) {
		r := realm(snapshot.Limits{snapshot.Minute: 1, snapshot.Year: 10}, snapshot.Limits{snapshot.Day: 5})
		for range 20 {
			take(t, limiter, r, "key_1", noon)
		}
		tally := take(t, limiter, r, "key_2", noon)
		if tally.Refused || tally.Shares()[1].Left[snapshot.Day] != 3 {
			t.Errorf("one call of each key: the project has %d left of 5", tally.Shares()[1].Left[snapshot.Day])
		}
		if left := take(t, limiter, r, "key_1", noon.Add(time.Minute)).Shares()[0].Left[snapshot.Year]; left != 8 {
			t.Errorf("two calls of the key: it has %d left of 10 in the year", left)
		}
	})
}

func TestTake_everyWindow(t *testing.T) {
	each(t, func(t *testing.T, limiter limiter) {
		for w := range snapshot.Window(snapshot.Windows) {
			var limits snapshot.Limits
			limits[w] = 2
			r, key := realm(limits, snapshot.Limits{}), "key_"+w.String()
			start, end := policy.WindowBounds(w, noon)
			for _, tc := range []struct {
				at      int64
				refused bool
			}{{start, false}, {end - 1, false}, {end - 1, true}, {end, false}} {
				if got := take(t, limiter, r, key, time.Unix(tc.at, 0)).Refused; got != tc.refused {
					t.Errorf("%s at %s: refused %v, want %v", w, time.Unix(tc.at, 0).UTC(), got, tc.refused)
				}
			}
		}
	})
}

// 64 callers at once, of two keys, against limits of both: exactly as many are
// admitted as the limits say.
func TestTake_concurrent(t *testing.T) {
	each(t, func(t *testing.T, limiter limiter) {
		const perKey, ofProject = 700, 1000
		r := realm(snapshot.Limits{snapshot.Hour: perKey}, snapshot.Limits{snapshot.Day: ofProject})
		var admitted [2]atomic.Int64
		var callers sync.WaitGroup
		for caller := range 64 {
			callers.Go(func() {
				key := caller % 2
				for range 50 {
					if !take(t, limiter, r, fmt.Sprintf("key_%d", key), noon).Refused {
						admitted[key].Add(1)
					}
				}
			})
		}
		callers.Wait()
		one, two := admitted[0].Load(), admitted[1].Load()
		if one+two != ofProject || one > perKey || two > perKey {
			t.Errorf("admitted %d and %d, want %d in all and at most %d of each", one, two, ofProject, perKey)
		}
	})
}

func TestLocal_expiredCounters(t *testing.T) {
	l := NewLocal()
	r := realm(snapshot.Limits{snapshot.Minute: 1}, snapshot.Limits{})
	for i := range 200_000 {
		take(t, l, r, fmt.Sprintf("key_%d", i), noon.Add(time.Duration(i)*10*time.Millisecond)) // 6,000 in each minute
	}
	if n := l.size(); n > 100_000 {
		t.Errorf("%d counters are kept of 200,000 keys, 6,000 of which called in the last minute", n)
	}
}

func TestLocal_boundedAddresses(t *testing.T) {
	l := NewLocal()
	r := policy.NewRealm(&snapshot.Project{
		ID:     "prj_1",
		Limits: snapshot.ProjectLimits{IP: snapshot.Limits{snapshot.Year: 1}, Owner: snapshot.Limits{snapshot.Year: 1}},
	})
	admitted := func(owner, ip string) bool {
		var tally policy.Tally
		r.Tally(&tally, &policy.Identity{Owner: owner}, nil, ip, noon)
		if err := l.Take(t.Context(), &tally); err != nil {
			t.Fatal(err)
		}
		return !tally.Refused
	}
	admitted("billing", "192.0.2.7")
	for i := range 2 * MaxAddresses {
		admitted("", fmt.Sprintf("2001:db8::%x:%x", i>>16, i&0xffff))
	}
	if n := l.size(); n > MaxAddresses+1 {
		t.Errorf("%d counters", n)
	}
	if admitted("billing", "192.0.2.8") {
		t.Error("an owner was forgotten for the sake of addresses")
	}
}

// A connection's calls are counted with those of all others, whatever it counted before.
func TestForConnection(t *testing.T) {
	limits := realm(snapshot.Limits{snapshot.Year: 1000}, snapshot.Limits{snapshot.Year: 1000})
	for name, key := range testkit.ByName(map[string]func(call int) string{
		"the same key":        func(int) string { return "key_1" },
		"another key at last": func(call int) string { return fmt.Sprintf("key_%d", call/9) },
		"keys in turn":        func(call int) string { return fmt.Sprintf("key_%d", call%2) },
	}) {
		t.Run(name, func(t *testing.T) {
			l := NewLocal()
			limiters := []policy.Limiter{l, l.ForConnection(), l.ForConnection()}
			counted := map[string]int64{}
			for call := range 12 {
				tally := take(t, limiters[call%len(limiters)], limits, key(call), noon)
				counted[key(call)]++
				if left := tally.Shares()[0].Left[snapshot.Year]; left != 1000-counted[key(call)] {
					t.Errorf("call %d: the key has %d left, want %d", call, left, 1000-counted[key(call)])
				}
				if left := tally.Shares()[1].Left[snapshot.Year]; left != 999-int64(call) {
					t.Errorf("call %d: the project has %d left, want %d", call, left, 999-int64(call))
				}
			}
		})
	}
}

// A counter is not used again after it was removed.
func TestForConnection_removedCounter(t *testing.T) {
	l := NewLocal()
	limits := realm(snapshot.Limits{snapshot.Minute: 10}, snapshot.Limits{})
	conn, later := l.ForConnection(), noon.Add(time.Minute)
	take(t, conn, limits, "key_1", noon)
	for i := range l.shards {
		l.shards[i].sweep(later)
	}
	take(t, conn, limits, "key_1", later)
	if left := take(t, l, limits, "key_1", later).Shares()[0].Left[snapshot.Minute]; left != 8 {
		t.Errorf("%d left after two calls of 10 in the minute, want 8", left)
	}
}

func (l *Local) size() (n int) {
	for i := range l.shards {
		n += len(l.shards[i].counters)
	}
	return n
}

func BenchmarkLocal(b *testing.B) {
	l := NewLocal()
	many := snapshot.Limits{snapshot.Minute: 1 << 40, snapshot.Month: 1 << 41}
	r := policy.NewRealm(&snapshot.Project{
		ID:     "prj_1",
		Limits: snapshot.ProjectLimits{Key: many, Owner: many, IP: many, Project: many},
	})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var tally policy.Tally
		id, key := policy.Identity{CredentialID: "key_1", Owner: "billing"}, snapshot.Key{}
		limiter := l.ForConnection()
		for pb.Next() {
			r.Tally(&tally, &id, &key, "192.0.2.7", noon)
			_ = limiter.Take(context.Background(), &tally)
		}
	})
}
