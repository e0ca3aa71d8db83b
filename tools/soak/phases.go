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
	missed   int             // calls that were left out, because every caller was busy
	took     []time.Duration // of the calls, since they were due
	changes  int             // requests to the control plane
	repeated int             // attempts at them that were cut off or got 502 or 503
	longest  time.Duration   // of a request, with its repetitions
	slowest  string          // that request, with the status of each attempt
}

// stretch is a time in which a phase lasted.
type stretch struct {
	of          *phase
	from, until time.Time // until is zero while it lasts
}

// phases are all, by name. A call or a request belongs to the phase in which it began. A call or an
// attempt at a request that fails has failed in a fault that lasted during this time and may cut it off, if
// there was one. The time that a request takes is also that fault's: it may have waited for a frozen replica, or for
// the lease of an attempt that was cut off.
type phases struct {
	mu        sync.Mutex
	order     []*phase
	stretches []stretch
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
	p.order[i].times++
	p.stretches = append(p.stretches, stretch{of: p.order[i], from: time.Now()})
}

func (p *phases) leave() {
	if n := len(p.stretches); n > 0 && p.stretches[n-1].until.IsZero() {
		last := &p.stretches[n-1]
		last.until = time.Now()
		last.of.length += last.until.Sub(last.from)
	}
}

// end ends the last phase.
func (p *phases) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leave()
}

// current is the phase that lasts now, nil outside of them.
func (p *phases) current() *phase {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now()
}

func (p *phases) now() *phase {
	if n := len(p.stretches); n > 0 && p.stretches[n-1].until.IsZero() {
		return p.stretches[n-1].of
	}
	return nil
}

// blamed is the phase to which a failure counts of what was sent in a phase and ended now: the last one
// in between that may cut it off, or else the one in which it was sent.
func (p *phases) blamed(in *phase, sent time.Time, cuts func(fault) bool) *phase {
	for _, s := range slices.Backward(p.stretches) {
		if !s.until.IsZero() && s.until.Before(sent) {
			break
		}
		if cuts(s.of.fault) {
			return s.of
		}
	}
	return in
}

func cutsCalls(f fault) bool   { return f.cutsCalls }
func cutsChanges(f fault) bool { return f.cutsChanges }

// called counts a call that had to begin in a phase, at a time.
func (p *phases) called(in *phase, due time.Time, a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in == nil {
		return
	}
	in.calls++
	in.took = append(in.took, a.answered.Sub(due))
	if a.failed == nil {
		return
	}
	in = p.blamed(in, a.sent, cutsCalls)
	in.failed++
	if in.why == "" {
		in.why = a.failed.Error()
	}
}

// missed counts a call that was left out.
func (p *phases) missed() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in := p.now(); in != nil {
		in.missed++
	}
}

// attempt is one sending of a request to the control plane.
type attempt struct {
	first  bool
	in     *phase        // in which it was sent
	sent   time.Time     //
	failed bool          // cut off, or got 502 or 503
	took   time.Duration // since the first one was sent
	what   string        // the request, with the status of each attempt
}

// requested counts an attempt at a request that belongs to a phase, and returns the phase that it belongs to now.
func (p *phases) requested(in *phase, a attempt) *phase {
	p.mu.Lock()
	defer p.mu.Unlock()
	if in != nil && a.first {
		in.changes++
	}
	if a.in != nil {
		cut := p.blamed(a.in, a.sent, cutsChanges)
		if a.failed {
			cut.repeated++
		}
		if in != nil && cutsChanges(cut.fault) {
			in = cut
		}
	}
	if in != nil && a.took > in.longest {
		in.longest, in.slowest = a.took, a.what
	}
	return in
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
