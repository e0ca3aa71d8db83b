package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"
)

// killLoses is how long before a kill calls were answered that it may lose (docs/usage.md): the second since the last
// write began, and what that write took if it was still running, which is long while the machine is busy.
const killLoses = 2 * time.Second

// usage bounds what the project's usage has to say at the end.
type usage struct {
	mu        sync.Mutex
	sent      int64                  // calls that may have reached a gateway
	answered  int64                  // calls that a gateway answered
	uncounted int64                  // of these, calls that a kill may have lost
	recent    map[string][]time.Time // by gateway, when calls were answered in the last seconds
	kills     map[string][]interval  // by gateway; calls that were answered then may be lost
}

func newUsage() *usage {
	return &usage{recent: map[string][]time.Time{}, kills: map[string][]interval{}}
}

func (u *usage) count(a answer) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.sent += int64(max(1, a.tries))
	if a.failed != nil || a.gateway == "" {
		return
	}
	u.answered++
	for _, kill := range u.kills[a.gateway] { // the answer may come to be counted after the kill
		if kill.includes(a.answered) {
			u.uncounted++
		}
	}
	u.recent[a.gateway] = append(u.recent[a.gateway], a.answered)
	times := u.recent[a.gateway]
	if old := a.answered.Add(-10 * killLoses); len(times) > 1<<14 && times[len(times)/2].Before(old) {
		u.recent[a.gateway] = slices.Clone(times[len(times)/2:])
	}
}

// killed notes that a gateway was killed, and is gone by now. Its counts since a time may be lost: killLoses before
// the signal was sent.
func (u *usage) killed(gateway string, since time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	kill := interval{since, time.Now()}
	u.kills[gateway] = append(u.kills[gateway], kill)
	for _, at := range u.recent[gateway] {
		if kill.includes(at) {
			u.uncounted++
		}
	}
}

// bounds are the fewest and the most calls that usage may have.
func (u *usage) bounds() (least, most int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.answered - u.uncounted, u.sent
}

// Counts are in the usage within a second, and within 90 seconds if so many keys were in use
// that they went through the log first (docs/usage.md).
const (
	usageWithin  = 100 * time.Second
	usageSettled = 10 * time.Second // without a new one, and with as many as there have to be
)

// settledUsage returns the usage of the project once it has everything that the replicas have
// counted. err is not nil if that is not what was called.
func (r *run) settledUsage(ctx context.Context) (calls int64, err error) {
	changed := time.Now()
	for deadline := time.Now().Add(usageWithin); ; {
		var now struct {
			Total struct{ Calls int64 }
		}
		path := "/api/v1/projects/" + r.changer.project + "/usage?from=" +
			r.began.Add(-time.Hour).UTC().Format(time.RFC3339)
		if err := r.api.do(ctx, http.MethodGet, path, nil, &now); err != nil {
			return 0, err
		}
		if now.Total.Calls != calls {
			calls, changed = now.Total.Calls, time.Now()
		}
		least, most := r.usage.bounds()
		settled := time.Since(changed) > usageSettled && calls >= least && calls < most
		switch {
		case calls == most, settled:
			return calls, nil
		case time.Now().After(deadline):
			return calls, fmt.Errorf("usage has %d calls, want %d to %d", calls, least, most)
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return calls, err
		}
	}
}
