package main

import (
	"errors"
	"testing"
	"time"
)

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
			duringCall, duringRequest := calls.current(), requests.current()
			for _, p := range []*phases{&calls, &requests} {
				p.enter(tt.failed)
			}
			calls.called(duringCall, answer{failed: errors.New("cut off")})
			requests.requested(duringRequest, attempt{first: true, failed: true, took: time.Second})
			requests.requested(duringRequest, attempt{took: time.Second})
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
