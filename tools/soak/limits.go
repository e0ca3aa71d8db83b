package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	limitedKeys = 6   // half of them by the second, the others by the minute
	limitedPart = 0.2 // of the calls, with one of these keys
	limitedTo   = 0.6 // of the calls with a key, so that windows are used up

	overLimit    verdict = "429 rate_limited"
	notCounted   verdict = "503 limits_unavailable"
	waitForRedis         = 250 * time.Millisecond // of a call, at most (service/ratelimit)

	// recountedWithin is how soon Redis counts again once it answers: it is not asked for half a second.
	recountedWithin = time.Second
)

// limits has the keys that may be called a number of times in each window, and what they were answered.
// Two replicas count them together, in Redis.
type limits struct {
	mu   sync.Mutex
	keys []*limitedKey
	free []*limitedKey // with limits that no load reaches, for measuring
	away []redisAway
}

type limitedKey struct {
	secret secret
	window time.Duration
	limit  int
	calls  []limitedCall
}

// limitedCall is one call, whose outcome is admitted, overLimit, or "" if it may have been counted.
type limitedCall struct {
	sent, answered time.Time
	outcome        verdict
	tries          int // each may have been counted: a gateway that was killed may have counted the one before
}

// redisAway is a time in which gateways count by themselves, or not at all.
type redisAway struct {
	interval

	refusing bool // calls are refused during this time: --redis-failure closed
	emptied  bool // Redis has lost its counts

	starts time.Time // Redis is started again: calls may be counted from then on
}

// createLimited creates keys. As many calls a second are made with all of them.
func (r *run) createLimited(ctx context.Context, calls float64) (keys []*limitedKey, err error) {
	each := calls / limitedKeys
	for i := range limitedKeys {
		k := &limitedKey{window: time.Second, limit: max(1, int(each*limitedTo))}
		in := map[string]any{"owner": fmt.Sprintf("limited-%d", i), "limits": map[string]int{"second": k.limit}}
		if i%2 == 1 {
			k.window, k.limit = time.Minute, max(1, int(60*each*limitedTo))
			in["limits"] = map[string]int{"minute": k.limit}
		}
		var made apiKey
		if err := r.api.do(ctx, http.MethodPost, "/api/v1/projects/"+r.changer.project+"/keys", in, &made); err != nil {
			return nil, err
		}
		k.secret.text = made.Key
		keys = append(keys, k)
	}
	return keys, sleep(ctx, 2*window)
}

// callFree calls with a key that has a limit, which is not reached.
func (r *run) callFree(ctx context.Context, due time.Time) {
	k, in := r.limits.free[rand.IntN(len(r.limits.free))], r.phases.current()
	a := r.caller.call(ctx, &k.secret)
	r.usage.count(a)
	r.phases.called(in, due, a)
}

// callLimited calls with a key that has a limit, and keeps what it was answered.
func (r *run) callLimited(ctx context.Context, due time.Time) {
	k, in := r.limits.keys[rand.IntN(len(r.limits.keys))], r.phases.current()
	a := r.caller.call(ctx, &k.secret)
	refusedUncounted := a.got == notCounted && r.limits.refusing(a.sent, a.answered)
	if refusedUncounted {
		a.failed = nil
	}
	r.usage.count(a)
	r.phases.called(in, due, a)
	call := limitedCall{sent: a.sent, answered: a.answered, tries: a.tries}
	switch {
	case a.failed != nil:
	case a.got == admitted, a.got == overLimit:
		call.outcome = a.got
	case refusedUncounted:
		return
	default:
		r.decidedWrongly(fmt.Errorf("gateway %s answered %q to a call with a key that has a limit", a.gateway, a.got))
	}
	r.limits.mu.Lock()
	defer r.limits.mu.Unlock()
	k.calls = append(k.calls, call)
}

// goes begins a time in which Redis does not count, and returns what ends it.
func (l *limits) goes(refusing, emptied bool) (ends func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := len(l.away)
	l.away = append(l.away, redisAway{interval: interval{from: time.Now()}, refusing: refusing, emptied: emptied})
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.away[i].until = time.Now().Add(recountedWithin)
	}
}

// starting notes that Redis is started again.
func (l *limits) starting() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away[len(l.away)-1].starts = time.Now()
}

// refusing reports whether a call with a limit may be refused uncounted.
func (l *limits) refusing(sent, answered time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.away, func(a redisAway) bool { return a.refusing && a.overlaps(sent, answered) })
}

// counted is what was found out about the windows of limits.
type counted struct {
	windows int // in which calls were made
	exact   int // of these, those that one count decided
	refused int // calls
	wrong   []error
}

// judge compares all answers with the limits. gateways is how many count by themselves while Redis does
// not: each of them may then admit as many calls as the limit says, and Redis as many again once it has
// lost its counts.
func (l *limits) judge(gateways int) (out counted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	away := append(slices.Clone(l.away), l.slow()...)
	for _, k := range l.keys {
		all := k.byWindow()
		k.judgeAdmitted(&out, all, away, gateways)
		k.judgeRefused(&out, all)
		k.judgeUncounted(&out, l.away)
	}
	return out
}

func (k *limitedKey) judgeAdmitted(out *counted, all map[int64][]limitedCall, away []redisAway, gateways int) {
	for start, calls := range all {
		from, until := time.Unix(0, start), time.Unix(0, start).Add(k.window)
		may, alone := 1, false
		for _, a := range away {
			if !a.overlaps(from, until) {
				continue
			}
			alone = alone || !a.refusing
			if a.emptied {
				may++
			}
		}
		if alone {
			may += gateways
		}
		out.windows++
		if may == 1 {
			out.exact++
		}
		surely := 0
		for _, c := range calls {
			if c.outcome == admitted && !c.sent.Before(from) && c.answered.Before(until) {
				surely++
			}
		}
		if surely > may*k.limit {
			out.wrong = append(out.wrong, fmt.Errorf("%d calls were admitted in the %s from %s with a limit of %d, "+
				"want at most %d", surely, k.window, clock(from), k.limit, may*k.limit))
		}
	}
}

func (k *limitedKey) judgeRefused(out *counted, all map[int64][]limitedCall) {
	for _, c := range k.calls {
		if c.outcome != overLimit {
			continue
		}
		out.refused++
		if !k.usedUp(all, c) {
			out.wrong = append(out.wrong, fmt.Errorf("a call was refused at %s though the %s had not had %d calls",
				clock(c.answered), k.window, k.limit))
		}
	}
}

// judgeUncounted finds calls that were admitted while they could not be counted and had to be refused.
func (k *limitedKey) judgeUncounted(out *counted, away []redisAway) {
	for _, a := range away {
		if !a.refusing {
			continue
		}
		gone := interval{a.from, a.starts}
		for _, c := range k.calls {
			if c.outcome == admitted && gone.includes(c.sent) && gone.includes(c.answered) {
				out.wrong = append(out.wrong, fmt.Errorf("a call was admitted uncounted at %s", clock(c.answered)))
			}
		}
	}
}

// slow are the times in which a call has waited so long that its gateway may have counted alone.
func (l *limits) slow() (out []redisAway) {
	for _, k := range l.keys {
		for _, c := range k.calls {
			if c.answered.Sub(c.sent) >= waitForRedis {
				out = append(out, redisAway{interval: interval{c.sent, c.answered.Add(recountedWithin)}})
			}
		}
	}
	return out
}

// byWindow are the calls by the windows in which they may have been counted, by start.
func (k *limitedKey) byWindow() map[int64][]limitedCall {
	out := map[int64][]limitedCall{}
	for _, c := range k.calls {
		for at := c.sent.Truncate(k.window); !at.After(c.answered); at = at.Add(k.window) {
			out[at.UnixNano()] = append(out[at.UnixNano()], c)
		}
	}
	for _, calls := range out {
		slices.SortFunc(calls, func(a, b limitedCall) int { return a.sent.Compare(b.sent) })
	}
	return out
}

// usedUp reports whether a window of a refused call may have had as many calls as the limit by then.
func (k *limitedKey) usedUp(all map[int64][]limitedCall, refused limitedCall) bool {
	for at := refused.sent.Truncate(k.window); !at.After(refused.answered); at = at.Add(k.window) {
		maybe := 0
		for _, c := range all[at.UnixNano()] {
			if c.sent.After(refused.answered) || maybe >= k.limit {
				break
			}
			switch {
			case c.outcome != overLimit:
				maybe += max(1, c.tries)
			case c.tries > 1:
				maybe += c.tries - 1
			}
		}
		if maybe >= k.limit {
			return true
		}
	}
	return false
}
