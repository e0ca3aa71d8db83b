package main

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"postern/tools/procfs"
)

// patience is how late work is begun at most. Later calls are left out.
const patience = 5 * time.Second

// arrive has work begun at fixed times, so many a second, by as many workers, until ctx ends. A time
// at which every worker is busy waits for one: due is when its work had to begin. missed is called for
// each that is left out.
func arrive(ctx context.Context, perSecond float64, workers int, work func(due time.Time), missed func()) {
	if perSecond <= 0 {
		return
	}
	queue := make(chan time.Time, int(perSecond*patience.Seconds())+1)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for due := range queue {
				if time.Since(due) > patience {
					missed()
					continue
				}
				work(due)
			}
		})
	}
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	began := time.Now()
	// The times are whole milliseconds, so that rounding by the ticker doesn't count as latency.
	next := func(n int) time.Time {
		return began.Add((time.Duration(float64(n)/perSecond*1000) + 1) * time.Millisecond)
	}
	for n := 0; ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case now := <-ticker.C:
			for due := next(n); !due.After(now); due = next(n) {
				n++
				select {
				case queue <- due:
				default: // every worker has been busy for as long as patience
					missed()
				}
			}
		}
	}
	close(queue)
	running.Wait()
}

// flatOut runs work by as many workers for a time, and returns how often a second.
func flatOut(ctx context.Context, length time.Duration, workers int, work func()) float64 {
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	var done atomic.Int64
	var running sync.WaitGroup
	began := time.Now()
	for range workers {
		running.Go(func() {
			for ctx.Err() == nil {
				work()
				done.Add(1)
			}
		})
	}
	running.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

// othersSince returns what part of the machine's CPU programs have used since that are not of the soak.
func othersSince() (part func() (float64, error), err error) {
	usedBefore, totalBefore, err := procfs.Machine()
	if err != nil {
		return nil, err
	}
	oursBefore, err := procfs.TreeCPU(os.Getpid())
	if err != nil {
		return nil, err
	}
	return func() (float64, error) {
		used, total, err := procfs.Machine()
		if err != nil {
			return 0, err
		}
		ours, err := procfs.TreeCPU(os.Getpid())
		others := (used - usedBefore) - (ours - oursBefore)
		return max(0, others.Seconds()) / (total - totalBefore).Seconds(), err
	}, nil
}

// counts counts by name.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *counts) add(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[name]++
}
