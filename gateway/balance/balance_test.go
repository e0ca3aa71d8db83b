package balance_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/gateway/balance"
)

var start = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// targets returns targets a, b, … with these weights.
func targets(weights ...int) (out []balance.Target) {
	for i, weight := range weights {
		out = append(out, balance.Target{Address: string(rune('a' + i)), Weight: weight})
	}
	return out
}

func take(t *testing.T, g *balance.Group, now time.Time, key balance.Key, tried balance.Tried) balance.Lease {
	t.Helper()
	lease, err := g.Take(now, key, tried)
	if err != nil {
		t.Fatalf("Take: %v", err)
	}
	return lease
}

// chosen returns the targets of n calls, one after the other, such as "aab".
func chosen(t *testing.T, g *balance.Group, now time.Time, n int) string {
	t.Helper()
	var out strings.Builder
	for range n {
		lease := take(t, g, now, balance.Key{}, balance.Tried{})
		out.WriteByte(byte('a' + lease.Index()))
		lease.Release()
	}
	return out.String()
}

func fail(t *testing.T, g *balance.Group, now time.Time, index, times int) {
	t.Helper()
	var tried balance.Tried
	for times > 0 {
		lease := take(t, g, now, balance.Key{}, tried)
		if lease.Index() == index {
			lease.Failed("refused", now)
			times--
		} else {
			tried.Add(lease)
		}
		lease.Release()
	}
}

func wantUnavailable(t *testing.T, g *balance.Group, now time.Time, want balance.UnavailableError) {
	t.Helper()
	lease, err := g.Take(now, balance.Key{}, balance.Tried{})
	got, ok := errors.AsType[*balance.UnavailableError](err)
	if !ok || *got != want {
		t.Fatalf("Take: target %d, error %v; want %+v", lease.Index(), err, want)
	}
}

func wantHealth(t *testing.T, g *balance.Group, index int, status balance.Status, since time.Time) {
	t.Helper()
	if got := g.Health()[index]; got.Status != status || !got.Since.Equal(since) {
		t.Errorf("target %d is %q since %s, want %q since %s", index, got.Status, got.Since, status, since)
	}
}

func TestTake_inTurn(t *testing.T) {
	for _, tc := range []struct {
		name    string
		weights []int
		want    string
	}{
		{"one target", []int{1}, "aaaa"},
		{"equal weights", []int{1, 1, 1}, "abcabc"},
		{"nginx's example of smooth round robin", []int{5, 1, 1}, "aabacaaaabacaa"},
		{"a drained target", []int{1, 0, 1}, "acac"},
		{"only one that isn't drained", []int{0, 7}, "bbb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			g := balance.New(balance.Settings{Targets: targets(tc.weights...)}, nil, start)
			if got := chosen(t, g, start, len(tc.want)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestTake_leastConnections(t *testing.T) {
	g := balance.New(balance.Settings{Targets: targets(1, 2, 0), Method: balance.LeastConnections}, nil, start)
	counts := [3]int{}
	var leases []balance.Lease
	for range 9 {
		lease := take(t, g, start, balance.Key{}, balance.Tried{})
		counts[lease.Index()]++
		leases = append(leases, lease)
	}
	if counts != [3]int{3, 6, 0} {
		t.Errorf("open calls are spread as %v, want them by weight", counts)
	}
	for _, lease := range leases {
		if lease.Index() == 0 {
			lease.Release()
		}
	}
	for range 3 {
		if lease := take(t, g, start, balance.Key{}, balance.Tried{}); lease.Index() != 0 {
			t.Error("a call went to the target that has more calls for its weight")
		}
	}

	equal := balance.New(balance.Settings{Targets: targets(1, 1, 1), Method: balance.LeastConnections}, nil, start)
	got := []byte(chosen(t, equal, start, 6))
	slices.Sort(got)
	if string(got) != "aabbcc" {
		t.Errorf("calls without others in progress went to %s, want them spread", got)
	}
}

// TestTake_leastConnectionsAndFastFailures measures what docs/upstreams.md says: least connections sends most calls to
// a target that fails at once. Ten callers each send a call after the other. A good target takes 100 ms, the failing
// one takes 1 ms.
func TestTake_leastConnectionsAndFastFailures(t *testing.T) {
	share := func(method balance.Method, passive balance.Passive) float64 {
		g := balance.New(balance.Settings{Targets: targets(1, 1), Method: method, Passive: passive}, nil, start)
		type caller struct {
			lease balance.Lease
			until time.Time
		}
		callers, now, calls, failed := make([]caller, 10), start, 0, 0
		call := func(c *caller) {
			c.lease = take(t, g, now, balance.Key{}, balance.Tried{})
			c.until = now.Add(100 * time.Millisecond)
			if c.lease.Index() == 1 {
				c.until = now.Add(time.Millisecond)
				failed++
			}
			calls++
		}
		for i := range callers {
			call(&callers[i])
		}
		for now.Before(start.Add(time.Minute)) {
			next := &callers[0]
			for i := range callers {
				if callers[i].until.Before(next.until) {
					next = &callers[i]
				}
			}
			if now = next.until; next.lease.Index() == 1 {
				next.lease.Failed("refused", now)
			} else {
				next.lease.Succeeded(now)
			}
			next.lease.Release()
			call(next)
		}
		return float64(failed) / float64(calls)
	}
	none, usual := balance.Passive{}, balance.Passive{Failures: 5, Out: 10 * time.Second}
	for _, tc := range []struct {
		name    string
		method  balance.Method
		passive balance.Passive
		low     float64
		high    float64
	}{
		{"round robin", balance.RoundRobin, none, 0.49, 0.51},
		{"least connections", balance.LeastConnections, none, 0.98, 1},
		{"least connections, passive checks", balance.LeastConnections, usual, 0, 0.02},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := share(tc.method, tc.passive)
			t.Logf("the failing target got %.1f %% of the calls", 100*got)
			if got < tc.low || got > tc.high {
				t.Errorf("the failing target got %.3f of the calls, want %.2f to %.2f", got, tc.low, tc.high)
			}
		})
	}
}

func TestTake_hash(t *testing.T) {
	const calls = 20_000
	spread := func(g *balance.Group) (all []int, counts []int) {
		counts = make([]int, g.Len())
		for i := range calls {
			lease := take(t, g, start, balance.KeyOf(fmt.Sprintf("owner-%d", i)), balance.Tried{})
			all = append(all, lease.Index())
			counts[lease.Index()]++
			lease.Release()
		}
		return all, counts
	}
	with := func(weights ...int) balance.Settings {
		return balance.Settings{Targets: targets(weights...), Method: balance.Hash}
	}
	before, counts := spread(balance.New(with(1, 2, 1), nil, start))
	for i, share := range []float64{0.25, 0.5, 0.25} {
		if got := float64(counts[i]) / calls; got < share-0.02 || got > share+0.02 {
			t.Errorf("target %d got %.3f of the calls, want about %.2f", i, got, share)
		}
	}
	if again, _ := spread(balance.New(with(1, 2, 1), nil, start)); !slices.Equal(again, before) {
		t.Error("another process sends calls with the same value elsewhere")
	}
	drained, _ := spread(balance.New(with(1, 2, 0), nil, start))
	for i := range before {
		if before[i] != 2 && drained[i] != before[i] {
			t.Fatalf("call %d moved from target %d to %d, although its target remains", i, before[i], drained[i])
		}
	}
	if got := chosen(t, balance.New(with(1, 1), nil, start), start, 4); got != "abab" {
		t.Errorf("calls without a value went to %s, want them in turn", got)
	}
}

func TestTake_anotherTarget(t *testing.T) {
	g := balance.New(balance.Settings{Targets: targets(1, 1, 1), Method: balance.Hash}, nil, start)
	var tried balance.Tried
	seen := map[int]bool{}
	for range 3 {
		lease := take(t, g, start, balance.KeyOf("one"), tried)
		tried.Add(lease)
		seen[lease.Index()] = true
		lease.Release()
	}
	if len(seen) != 3 {
		t.Errorf("three tries went to %d targets, want 3", len(seen))
	}
	take(t, g, start, balance.KeyOf("one"), tried).Release() // there is no other one, so it is sent to one again
}

func TestPassive(t *testing.T) {
	passive := balance.Passive{Failures: 3, Out: 10 * time.Second}
	g := balance.New(balance.Settings{Targets: targets(1, 1), Passive: passive}, nil, start)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }

	fail(t, g, at(1), 1, 2)
	lease := take(t, g, at(1), balance.Key{}, balance.Tried{})
	for lease.Index() != 1 {
		lease.Release()
		lease = take(t, g, at(1), balance.Key{}, balance.Tried{})
	}
	lease.Succeeded(at(1))
	lease.Release()
	fail(t, g, at(2), 1, 2)
	wantHealth(t, g, 1, balance.Healthy, start)

	fail(t, g, at(3), 1, 1)
	wantHealth(t, g, 1, balance.Unhealthy, at(3))
	lease.Failed("refused", at(5)) // of a call that began earlier: the time doesn't begin again
	if got := chosen(t, g, at(12.9), 3); got != "aaa" {
		t.Errorf("calls went to %s while b was out", got)
	}
	if got := chosen(t, g, at(13), 4); strings.Count(got, "b") != 2 {
		t.Errorf("calls went to %s after the time of b had passed", got)
	}
	wantHealth(t, g, 1, balance.Unhealthy, at(3)) // no call has succeeded yet
	fail(t, g, at(13), 1, 1)
	if got := chosen(t, g, at(14), 3); got != "aaa" {
		t.Errorf("calls went to %s after b had failed once more", got)
	}
	lease.Succeeded(at(14)) // of a call that began earlier
	if got := chosen(t, g, at(14), 3); got != "aaa" {
		t.Errorf("calls went to %s before the time of b had passed", got)
	}
	lease.Succeeded(at(23))
	wantHealth(t, g, 1, balance.Healthy, at(23))

	fail(t, g, at(24), 0, 3)
	fail(t, g, at(24), 1, 3)
	if got := chosen(t, g, at(24), 4); strings.Count(got, "a") != 2 {
		t.Errorf("calls went to %s, want both targets when all are out", got)
	}
}

func TestPassive_drained(t *testing.T) {
	passive := balance.Passive{Failures: 1, Out: time.Hour}
	g := balance.New(balance.Settings{Targets: targets(1, 0), Passive: passive}, nil, start)
	fail(t, g, start, 0, 1)
	if got := chosen(t, g, start, 3); got != "aaa" {
		t.Errorf("calls went to %s, want none to the drained target", got)
	}
}

func TestPassive_off(t *testing.T) {
	g := balance.New(balance.Settings{Targets: targets(1, 1)}, nil, start)
	fail(t, g, start, 1, 100)
	if got := chosen(t, g, start, 4); strings.Count(got, "b") != 2 {
		t.Errorf("calls went to %s, want both targets", got)
	}
	wantHealth(t, g, 1, balance.Healthy, start)
}

func TestActive(t *testing.T) {
	g := balance.New(balance.Settings{
		Targets: targets(1, 1),
		Active:  balance.Active{Healthy: 2, Unhealthy: 3, Interval: 7 * time.Second},
		Passive: balance.Passive{Failures: 1, Out: time.Hour},
	}, nil, start)
	fail(t, g, start, 1, 5) // without effect: the checks alone decide
	check := func(index int, results string) {
		for _, r := range results {
			g.Checked(index, map[rune]string{'-': "timeout"}[r], start.Add(time.Second))
		}
	}
	for _, tc := range []struct {
		results string
		want    bool // it gets calls
	}{{"--+--", true}, {"-", false}, {"+-+", false}, {"+", true}} {
		check(1, tc.results)
		if got := strings.Contains(chosen(t, g, start, 4), "b"); got != tc.want {
			t.Fatalf("after %s, b gets calls: %t, want %t", tc.results, got, tc.want)
		}
	}
	check(0, "---")
	check(1, "---")
	wantUnavailable(t, g, start, balance.UnavailableError{RetryAfter: 7 * time.Second})
	wantHealth(t, g, 0, balance.Unhealthy, start.Add(time.Second))
}

func TestHealth_reason(t *testing.T) {
	g := balance.New(balance.Settings{
		Targets: targets(1, 1), Active: balance.Active{Healthy: 1, Unhealthy: 2, Interval: time.Second},
	}, nil, start)
	for _, tc := range []struct{ problem, want string }{
		{"timeout", ""}, {"status 503", "status 503"}, {"connection refused", "status 503"}, {"", ""},
	} {
		g.Checked(1, tc.problem, start)
		if got := g.Health()[1].Reason; got != tc.want {
			t.Errorf("after a check with the problem %q, the reason is %q, want %q", tc.problem, got, tc.want)
		}
	}
}

func TestBreaker(t *testing.T) {
	g := balance.New(balance.Settings{
		Targets: targets(1),
		Breaker: balance.Breaker{Failures: 3, Window: 10 * time.Second, Open: 5 * time.Second},
	}, nil, start)
	at := func(seconds int) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	early := take(t, g, start, balance.Key{}, balance.Tried{})

	fail(t, g, at(0), 0, 2)
	fail(t, g, at(10), 0, 2) // the first two are older than the window
	wantHealth(t, g, 0, balance.Healthy, start)
	fail(t, g, at(11), 0, 1)
	wantHealth(t, g, 0, balance.Open, at(11))
	wantUnavailable(t, g, at(12), balance.UnavailableError{Open: true, RetryAfter: 4 * time.Second})
	for range 3 { // calls from before count no more
		early.Failed("refused", at(14))
	}
	early.Succeeded(at(14))
	early.Release()

	trial := take(t, g, at(16), balance.Key{}, balance.Tried{})
	wantUnavailable(t, g, at(16), balance.UnavailableError{Open: true})
	trial.Release() // the caller hung up: nothing is known, and the slot is free
	trial = take(t, g, at(16), balance.Key{}, balance.Tried{})
	trial.Failed("refused", at(17))
	trial.Release()
	wantUnavailable(t, g, at(21), balance.UnavailableError{Open: true, RetryAfter: time.Second})

	trial = take(t, g, at(22), balance.Key{}, balance.Tried{})
	trial.Succeeded(at(23))
	wantHealth(t, g, 0, balance.Healthy, at(23))
	take(t, g, at(23), balance.Key{}, balance.Tried{}).Release() // while the trial still streams its response
	trial.Release()
	fail(t, g, at(23), 0, 2)
	take(t, g, at(23), balance.Key{}, balance.Tried{}).Release() // earlier failures don't count any more
}

func TestBreaker_ofEachTarget(t *testing.T) {
	g := balance.New(balance.Settings{
		Targets: targets(1, 1),
		Breaker: balance.Breaker{Failures: 2, Window: time.Minute, Open: time.Minute},
	}, nil, start)
	fail(t, g, start, 1, 2)
	if got := chosen(t, g, start, 3); got != "aaa" {
		t.Errorf("calls went to %s, want the target whose breaker is closed", got)
	}
	fail(t, g, start.Add(time.Second), 0, 2)
	wantUnavailable(t, g, start.Add(time.Second),
		balance.UnavailableError{Open: true, RetryAfter: 59 * time.Second})
}

func TestNew_keptState(t *testing.T) {
	settings := balance.Settings{
		Targets: targets(1, 1, 1), Method: balance.LeastConnections,
		Passive: balance.Passive{Failures: 2, Out: time.Minute},
		Breaker: balance.Breaker{Failures: 3, Window: time.Hour, Open: time.Hour},
	}
	was := balance.New(settings, nil, start)
	fail(t, was, start, 2, 2)
	running := take(t, was, start, balance.Key{}, balance.Tried{})
	for running.Index() != 0 {
		running = take(t, was, start, balance.Key{}, balance.Tried{})
	}

	settings.Targets = []balance.Target{
		{Address: "c", Weight: 1}, {Address: "a", Weight: 1}, {Address: "new", Weight: 1},
	}
	now := balance.New(settings, was, start.Add(time.Second))
	wantHealth(t, now, 0, balance.Unhealthy, start)
	wantHealth(t, now, 2, balance.Healthy, start.Add(time.Second))
	if lease := take(t, now, start, balance.Key{}, balance.Tried{}); lease.Index() != 2 {
		t.Errorf("the call went to target %d, want the one that is in and has no calls", lease.Index())
	}
	running.Release() // counts for the group that replaced its own
	if lease := take(t, now, start, balance.Key{}, balance.Tried{}); lease.Index() != 1 {
		t.Errorf("the call went to target %d, want the one whose call has ended", lease.Index())
	}
	fail(t, now, start.Add(time.Minute), 0, 1) // the third within the window
	wantHealth(t, now, 0, balance.Open, start.Add(time.Minute))

	settings.Breaker, settings.Passive = balance.Breaker{}, balance.Passive{}
	wantHealth(t, balance.New(settings, now, start.Add(time.Hour)), 0, balance.Healthy, start.Add(time.Hour))
}

func TestTake_allocations(t *testing.T) {
	for _, g := range []*balance.Group{
		balance.New(balance.Settings{Targets: targets(1)}, nil, start),
		balance.New(balance.Settings{
			Targets: targets(1, 2, 3),
			Passive: balance.Passive{Failures: 5, Out: time.Second},
			Breaker: balance.Breaker{Failures: 5, Window: time.Second, Open: time.Second},
		}, nil, start),
	} {
		allocated := testing.AllocsPerRun(100, func() {
			lease, _ := g.Take(start, balance.Key{}, balance.Tried{})
			lease.Succeeded(start)
			lease.Release()
		})
		if allocated != 0 {
			t.Errorf("a call to one of %d targets allocates %.0f times", g.Len(), allocated)
		}
	}
}
