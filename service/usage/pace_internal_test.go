package usage

import (
	"runtime"
	"testing"
	"time"
)

// On one core, what waits for it gets its turn many times while a flush sums up many keys.
func TestAFlushOfManyKeysLetsCallsGoOn(t *testing.T) {
	const keys = 40 * paceSteps
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	all := someCounters(keys)
	for name, work := range map[string]func(){
		"merge":  func() { tally{}.mergeAt(paceOf(len(all)), all) },
		"split":  func() { all.split() },
		"encode": func() { _, _ = logEntries(all.list(), sumsOfEntry, time.Now()) },
	} {
		t.Run(name, func(t *testing.T) {
			over, turns := make(chan struct{}), make(chan int)
			go func() {
				for n := 0; ; n++ {
					select {
					case <-over:
						turns <- n
						return
					default:
						runtime.Gosched()
					}
				}
			}()
			runtime.Gosched()
			work()
			close(over)
			if n := <-turns; n < keys/paceSteps {
				t.Errorf("another goroutine had %d turns, want at least %d", n, keys/paceSteps)
			}
		})
	}
}
