package turns

import (
	"os"
	"runtime"
	"sync"
)

// besideThreads is how many threads more a process has while long work runs in it.
const besideThreads = 2

var beside struct {
	sync.Mutex
	running int // pieces of long work
	before  int // threads without it
}

// Beside begins work that keeps the processor busy for seconds, next to calls that must not wait for it, until done is
// called. A goroutine that is ready waits up to 10 ms for a thread that another one keeps busy, while the kernel lets a
// thread that has slept run at once. So the process has two threads more than cores (GOMAXPROCS): two of them may be
// busy, and calls still find one.
func Beside() (done func()) {
	beside.Lock()
	defer beside.Unlock()
	if beside.running++; beside.running == 1 {
		beside.before = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(beside.before + besideThreads)
	}
	return sync.OnceFunc(func() {
		beside.Lock()
		defer beside.Unlock()
		if beside.running--; beside.running > 0 {
			return
		}
		if os.Getenv("GOMAXPROCS") != "" {
			runtime.GOMAXPROCS(beside.before)
		} else {
			runtime.SetDefaultGOMAXPROCS() // which follows the limits of a container
		}
	})
}

// threads returns how many threads the process has without long work.
func threads() int {
	beside.Lock()
	defer beside.Unlock()
	if beside.running > 0 {
		return beside.before
	}
	return runtime.GOMAXPROCS(0)
}
