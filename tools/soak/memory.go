package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"postern/tools/procfs"
)

// growth is how much the resident memory of a replica may grow in the second half of a run, as a
// part of what it has in the middle. It rises and falls by more from one sample to the next, since a
// heap of 15 MB may double before garbage is collected, so it is the slope of a line through all of
// them. heapGrowth bounds what is in use.
const growth = 0.25

// judgedAfter is the least time of which growth is judged: a new process fills its caches.
const judgedAfter = 2 * time.Minute

// unsampled is the part of the second half that may be without samples at its ends.
const unsampled = 5 * time.Second

// memory samples what is resident of each replica, once a second.
type memory struct {
	mu      sync.Mutex
	samples map[string][]sample
	failed  []error // to read a process that runs
}

type sample struct {
	at    time.Time
	pid   int
	bytes float64
}

func (m *memory) follow(ctx context.Context, replicas []*replica) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	unread := map[int]bool{} // a process that has just ended may not be waited for yet
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
				bytes, err := procfs.Resident(pid)
				m.mu.Lock()
				if err == nil {
					m.samples[r.name] = append(m.samples[r.name], sample{now, pid, bytes})
				} else if unread[pid] {
					m.failed = append(m.failed, fmt.Errorf("replica %s runs: %w", r.name, err))
				}
				m.mu.Unlock()
				unread[pid] = err != nil
			}
		}
	}
}

// held is what a replica held of memory, in bytes.
type held struct {
	replica           string
	first, last, peak float64
	since             time.Duration // the samples of growth are of so long a time
	grew              float64       // bytes, by the line through them
	judged            bool          // they are of long enough
	flat              bool          // or not judged
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
	out.judged = out.since >= judgedAfter
	out.flat = !out.judged || out.grew <= growth*mean
	return out
}

// faults returns the replicas that grew in the second half of a run, and, if that is long enough,
// those that were not judged.
func (m *memory) faults(all []held, half time.Duration) (out []error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := len(m.failed); n > 0 {
		out = append(out, fmt.Errorf("%d samples of memory failed: %w", n, errors.Join(m.failed[:min(n, shown)]...)))
	}
	for _, h := range all {
		switch {
		case !h.flat:
			out = append(out, fmt.Errorf("replica %s grew by %.1f MB in the last %s", h.replica, h.grew/1e6,
				h.since.Round(time.Second)))
		case !h.judged && half >= judgedAfter+unsampled:
			out = append(out, fmt.Errorf("the memory of replica %s was not judged: it was sampled for %s, not for %s",
				h.replica, h.since.Round(time.Second), judgedAfter))
		}
	}
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
