package usage

import (
	"runtime"
	"testing"

	"postern/testkit"
)

// letsOthersRun calls work and returns how often it let other goroutines run.
func letsOthersRun(work func()) (times int) {
	letOthersRun = func() { times++ }
	defer func() { letOthersRun = runtime.Gosched }()
	work()
	return times
}

// A flush of many keys lets calls go on after every paceSteps keys, or pieces of text, of each of its loops.
func TestFlush_concurrentCalls(t *testing.T) {
	const (
		stops       = 40
		keys        = stops * paceSteps
		stopsInText = stops / 4 // a key has at least 16 bytes of text, which is written in pieces of 64
	)
	all := someCounters(keys)
	list := all.list()
	for name, test := range testkit.ByName(map[string]struct {
		want int
		work func()
	}{
		"merge":  {stops, func() { tally{}.mergeAt(paceOf(len(all)), all) }},
		"split":  {2 * stops, func() { all.split() }}, // counts, and then divides
		"encode": {stops + stopsInText, func() { _, _ = encode(list) }},
	}) {
		t.Run(name, func(t *testing.T) {
			if n := letsOthersRun(test.work); n < test.want {
				t.Errorf("it let others run %d times, want at least %d", n, test.want)
			}
		})
	}
}

// A pace has stops after equally many steps: paceSteps in a short loop, and more in a loop that would have more than
// paceStops of them.
func TestPace(t *testing.T) {
	for steps, every := range map[int]int{
		1:                           paceSteps,
		paceSteps * paceStops:       paceSteps,
		4*paceSteps*paceStops + 1:   4 * paceSteps,
		100 * paceSteps * paceStops: 100 * paceSteps,
	} {
		p := paceOf(steps)
		for step := 1; step <= 3*every; step++ {
			n := letsOthersRun(p.step)
			if want := step%every == 0; (n == 1) != want || n > 1 {
				t.Fatalf("%d steps: step %d lets others run %d times, want once every %d", steps, step, n, every)
			}
		}
	}
	var none *pace
	if n := letsOthersRun(none.step); n != 0 {
		t.Errorf("no pace lets others run %d times", n)
	}
}
