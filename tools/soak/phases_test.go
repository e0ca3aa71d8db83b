package main

import (
	"errors"
	"testing"
	"time"
)

// TestPhases_blamed: what lasts longer than a fault may have failed in it, and what is sent after it has not.
func TestPhases_blamed(t *testing.T) {
	var p phases
	kills := fault{name: "killed", cutsCalls: true, cutsChanges: true}
	p.enter(calm)
	before, sent := p.current(), time.Now()
	p.enter(kills)
	p.enter(calm)
	p.called(before, sent, answer{sent: sent, failed: errors.New("cut off")})
	p.requested(before, attempt{first: true, in: before, sent: sent, failed: true})
	if got := p.faults(); got != nil {
		t.Errorf("a fault has ended since: %v", got)
	}
	p.requested(before, attempt{in: p.current(), sent: time.Now().Add(time.Millisecond), failed: true})
	if got := p.faults(); len(got) != 1 || before.repeated != 1 {
		t.Errorf("sent again after the fault, and failed: %v", got)
	}
	p.end()
	p.requested(nil, attempt{first: true, sent: time.Now(), failed: true})
	if len(p.faults()) != 1 {
		t.Error("a request is counted that was sent outside of all phases")
	}
}

// TestPhases_longest: the time of a request belongs to the fault that has cut it off or made it wait.
func TestPhases_longest(t *testing.T) {
	kills := fault{name: "killed", cutsCalls: true, cutsChanges: true}
	for name, tt := range map[string]struct {
		during fault
		failed bool
		want   string // the phase that has the longest request
	}{
		"answered after a fault":  {kills, false, kills.name},
		"cut off":                 {kills, true, kills.name},
		"answered without one":    {atEnd, false, calm.name},
		"unavailable without one": {atEnd, true, calm.name},
	} {
		t.Run(name, func(t *testing.T) {
			var p phases
			p.enter(calm)
			began, sent := p.current(), time.Now()
			p.enter(tt.during)
			belongs := p.requested(began, attempt{
				first: true, in: began, sent: sent, failed: tt.failed, took: time.Second, what: "POST /",
			})
			p.enter(calm)
			p.requested(belongs, attempt{in: p.current(), sent: time.Now(), took: time.Minute, what: "POST /"})
			for _, ph := range p.order {
				if slowest := ph.slowest != ""; slowest != (ph.fault.name == tt.want) {
					t.Errorf("%s has %q", ph.fault.name, ph.slowest)
				}
			}
			if began.changes != 1 {
				t.Errorf("%d requests, want 1", began.changes)
			}
		})
	}
}

// TestPhases_faults has calls and requests that fail at once, or in a phase after the one in which they began.
func TestPhases_faults(t *testing.T) {
	kills := fault{name: "killed", cutsCalls: true, cutsChanges: true}
	for name, tt := range map[string]struct {
		began, failed fault
		want          bool // that the run fails
	}{
		"calm":                       {calm, calm, true},
		"while everything is read":   {atEnd, atEnd, true},
		"begun in the calm, cut off": {calm, kills, false},
		"cut off":                    {kills, kills, false},
		"begun in the fault":         {kills, calm, false},
		"begun before the end":       {calm, atEnd, true},
	} {
		t.Run(name, func(t *testing.T) {
			var calls, requests phases
			for _, p := range []*phases{&calls, &requests} {
				p.enter(tt.began)
			}
			sent := time.Now()
			duringCall, duringRequest := calls.current(), requests.current()
			for _, p := range []*phases{&calls, &requests} {
				p.enter(tt.failed)
			}
			calls.called(duringCall, sent, answer{sent: sent, failed: errors.New("cut off")})
			requests.requested(duringRequest, attempt{
				first:  true,
				in:     duringRequest,
				sent:   sent,
				failed: true,
				took:   time.Second,
			})
			requests.requested(duringRequest, attempt{in: requests.current(), sent: time.Now(), took: time.Second})
			if got := calls.faults(); len(got) > 0 != tt.want {
				t.Errorf("of calls: %v", got)
			}
			if got := requests.faults(); len(got) > 0 != tt.want {
				t.Errorf("of requests: %v", got)
			}
			if duringRequest.changes != 1 || duringCall.calls != 1 {
				t.Errorf("%d requests and %d calls began in %q, want 1 and 1", duringRequest.changes, duringCall.calls,
					tt.began.name)
			}
		})
	}
}
