package usage

import "runtime"

// pace lets the calls go on that wait for this core, every few steps of a long loop. Without it they
// wait until the runtime interrupts the loop, after 10 ms: a flush of many keys each second would be what
// the slowest hundredth of calls waits for. A nil pace lets none.
type pace struct{ every, done int }

// A loop of few steps is interrupted every 0.1 ms or so, and one of many so often in all: it may wait
// for a millisecond each time, and a flush has to end.
const (
	paceSteps = 256
	paceStops = 256
)

// letOthersRun is replaced by tests, which count how often it is called.
var letOthersRun = runtime.Gosched

func paceOf(steps int) *pace { return &pace{every: max(paceSteps, steps/paceStops)} }

func (p *pace) step() {
	if p == nil {
		return
	}
	if p.done++; p.done >= p.every {
		p.done = 0
		letOthersRun()
	}
}
