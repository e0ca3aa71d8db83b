package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// growth is how much the memory of a replica may grow in the second half of a run, as a
// part of what it has in the middle. A garbage-collected heap rises and falls by more from
// one sample to the next, so it is the slope of a line through all of them.
const growth = 0.10

// judgedAfter is the least time of which growth is judged: a new process fills its caches.
const judgedAfter = 2 * time.Minute

// memory samples what is resident of each replica, once a second.
type memory struct {
	mu      sync.Mutex
	samples map[string][]sample
}

type sample struct {
	at    time.Time
	pid   int
	bytes float64
}

func (m *memory) follow(ctx context.Context, replicas []*replica) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			for _, r := range replicas {
				pid, ok := r.pid()
				if !ok {
					continue
				}
				if bytes, err := resident(pid); err == nil {
					m.mu.Lock()
					m.samples[r.name] = append(m.samples[r.name], sample{now, pid, bytes})
					m.mu.Unlock()
				}
			}
		}
	}
}

// resident is VmRSS (proc(5), /proc/pid/status), in bytes.
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.ParseFloat(strings.Fields(rest + " ?")[0], 64)
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	return kib * 1024, nil
}

// held is what a replica held of memory, in bytes.
type held struct {
	replica           string
	first, last, peak float64
	since             time.Duration // the samples of growth are of so long a time
	grew              float64       // bytes, by the line through them
	flat              bool
}

// summary returns the memory of a replica, and how it grew from a time on, in the process
// that lived last.
func (m *memory) summary(name string, from time.Time) held {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.samples[name]
	out := held{replica: name, flat: true}
	if len(all) == 0 {
		return out
	}
	out.first, out.last = all[0].bytes, all[len(all)-1].bytes
	var late []sample
	for _, s := range all {
		out.peak = max(out.peak, s.bytes)
		if !s.at.Before(from) && s.pid == all[len(all)-1].pid {
			late = append(late, s)
		}
	}
	if len(late) < 2 {
		return out
	}
	slope, mean := line(late)
	out.since = late[len(late)-1].at.Sub(late[0].at)
	out.grew = slope * out.since.Seconds()
	out.flat = out.since < judgedAfter || out.grew <= growth*mean
	return out
}

// line is the least-squares line through samples: bytes a second, and their mean.
func line(samples []sample) (slope, mean float64) {
	n := float64(len(samples))
	var sumX, sumY, sumXX, sumXY float64
	for _, s := range samples {
		x, y := s.at.Sub(samples[0].at).Seconds(), s.bytes
		sumX, sumY, sumXX, sumXY = sumX+x, sumY+y, sumXX+x*x, sumXY+x*y
	}
	if below := n*sumXX - sumX*sumX; below > 0 {
		slope = (n*sumXY - sumX*sumY) / below
	}
	return slope, sumY / n
}
