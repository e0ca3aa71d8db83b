package main

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// phase is what was measured while a fault lasted, or between faults.
type phase struct {
	fault    fault
	times    int
	length   time.Duration
	calls    int
	failed   int             // without an answer, or with one of 500 and above
	why      string          // the first of these
	took     []time.Duration // of the calls
	changes  int             // requests to the control plane
	repeated int             // attempts at them that were cut off or answered 502 or 503
	longest  time.Duration   // of a request, with its repetitions
}

// phases are all, by name. A call or a request belongs to the phase in which it began. One that a later
// fault cuts off has failed in that fault.
type phases struct {
	mu    sync.Mutex
	order []*phase
	now   *phase
	began time.Time
}

// enter begins a phase and ends the one before.
func (p *phases) enter(f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave()
	i := slices.IndexFunc(p.order, func(o *phase) bool { return o.fault.name == f.name })
	if i < 0 {
		i = len(p.order)
		p.order = append(p.order, &phase{fault: f})
	}
	p.now, p.began = p.order[i], time.Now()
	p.now.times++
}

func (p *phases) leave() {
	if p.now != nil {
		p.now.length += time.Since(p.began)
	}
	p.now = nil
}

// end ends the last phase.
func (p *phases) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave()
}

// current is the phase that lasts now, nil before the first one.
func (p *phases) current() *phase {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *phases) called(in *phase, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in == nil {
		return
	}
	in.calls++
	in.took = append(in.took, a.answered.Sub(a.sent))
	if a.failed == nil {
		return
	}
	if p.now != nil && p.now.fault.cutsCalls {
		in = p.now
	}
	in.failed++
	if in.why == "" {
		in.why = a.failed.Error()
	}
}

// attempt is one sending of a request to the control plane.
type attempt struct {
	first  bool
	failed bool          // cut off, or answered 502 or 503
	took   time.Duration // since the first one began
}

// requested counts an attempt at a request that began in a phase.
func (p *phases) requested(in *phase, a attempt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in == nil {
		return
	}
	if a.first {
		in.changes++
	}
	in.longest = max(in.longest, a.took)
	if !a.failed {
		return
	}
	if p.now != nil && p.now.fault.cutsChanges {
		in = p.now
	}
	in.repeated++
}

// faults returns what may not have failed and has.
func (p *phases) faults() (out []error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ph := range p.order {
		if ph.failed > 0 && !ph.fault.cutsCalls {
			out = append(out, fmt.Errorf("%d calls failed: %s; the first: %s", ph.failed, ph.fault.name, ph.why))
		}
		if ph.repeated > 0 && !ph.fault.cutsChanges {
			out = append(out, fmt.Errorf("%d requests to the control plane had to be sent again: %s", ph.repeated,
				ph.fault.name))
		}
	}
	return out
}

// quantile returns the duration that a part of all did not exceed.
func quantile(all []time.Duration, part float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(int(part*float64(len(sorted))), len(sorted)-1)]
}
