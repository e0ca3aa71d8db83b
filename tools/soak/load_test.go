package main

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestArrive: work that takes long delays no time of what comes after it, and what is too late is left out.
func TestArrive(t *testing.T) {
	for name, tt := range map[string]struct {
		workers      int
		takes        time.Duration
		done, missed int64
		latest       time.Duration // that work began after it was due
	}{
		"enough workers":          {workers: 10, takes: 50 * time.Millisecond, done: 1000},
		"one of half as much":     {workers: 1, takes: 20 * time.Millisecond, done: 750, missed: 250, latest: patience},
		"one that does its share": {workers: 1, takes: 10 * time.Millisecond, done: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
				defer stop()
				var done, missed atomic.Int64
				late := make(chan time.Duration, 2000)
				arrive(ctx, 100, tt.workers, func(due time.Time) {
					late <- time.Since(due)
					done.Add(1)
					time.Sleep(tt.takes)
				}, func() { missed.Add(1) })
				close(late)
				var all []time.Duration
				for l := range late {
					all = append(all, l)
				}
				if got := slices.Max(all).Round(100 * time.Millisecond); got != tt.latest {
					t.Errorf("work began %s after it was due, want %s", got, tt.latest)
				}
				if n := done.Load(); n < tt.done-2 || n > tt.done+2 {
					t.Errorf("%d times, want %d", n, tt.done)
				}
				if n := missed.Load(); n < tt.missed-2 || n > tt.missed+2 {
					t.Errorf("%d were left out, want %d", n, tt.missed)
				}
			})
		})
	}
}
