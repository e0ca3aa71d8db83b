package keys

import (
	"context"
	"time"
)

const (
	// wayRate is how many calls a second are enough for an import to make way.
	wayRate = 20
	// wayFactor is how much longer an import pauses than it works while the process serves calls: a batch keeps a core
	// busy, which delays calls.
	wayFactor = 7
	wayMost   = 2 * time.Second // of a pause: the lease of an import is longer
)

// pauseAfter returns how long an import pauses after work during which the process served calls.
func pauseAfter(work time.Duration, calls uint64, since time.Duration) time.Duration {
	if float64(calls) <= wayRate*since.Seconds()+1 { // one may come at any time
		return 0
	}
	return min(wayFactor*work, wayMost)
}

// makingWay returns a function that an import calls after each batch. It pauses if the process has served calls since
// the last batch.
func (r *importing) makingWay() func(context.Context) {
	if r.service.Calls == nil {
		return func(context.Context) {}
	}
	calls, ended, paused := r.service.Calls(), time.Now(), time.Duration(0)
	return func(ctx context.Context) {
		served, now := r.service.Calls(), time.Now()
		paused = pauseAfter(now.Sub(ended)-paused, served-calls, now.Sub(ended))
		calls, ended = served, now
		select {
		case <-ctx.Done(): // the next batch returns its error
		case <-time.After(paused):
		}
	}
}
