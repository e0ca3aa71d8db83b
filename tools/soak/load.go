package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// pace runs work at a rate by as many workers until ctx ends. Work that has no worker
// waits; after a stall the rate is kept again, and what was missed is left out.
func pace(ctx context.Context, perSecond float64, workers int, work func()) {
	if perSecond <= 0 {
		return
	}
	every := time.Duration(float64(time.Second) / perSecond)
	slots := make(chan struct{}, workers)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for range slots {
				work()
			}
		})
	}
	ticker := time.NewTicker(max(every, time.Millisecond))
	defer ticker.Stop()
	for last, owed := time.Now(), 0.0; ctx.Err() == nil; {
		select {
		case <-ctx.Done():
		case now := <-ticker.C:
			owed = min(owed+now.Sub(last).Seconds()*perSecond, max(perSecond/10, 1))
			last = now
			for ; owed >= 1; owed-- {
				select {
				case slots <- struct{}{}:
				default: // every worker is busy
				}
			}
		}
	}
	close(slots)
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
