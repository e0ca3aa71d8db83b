package turns

import (
	"os"
	"runtime"
	"sync"
)

// backgroundThreads is how many threads more a process has while long work runs in it.
const backgroundThreads = 2

var background struct {
	sync.Mutex
	running int // pieces of long work
	before  int // threads without it
}

// Background begins work that keeps the processor busy for seconds, and that calls must not wait for. It lasts
// until done is called. A goroutine that is ready waits up to 10 ms for a thread that another one keeps busy,
// while the kernel lets a thread that has slept run at once. So the process has two threads more than cores
// (GOMAXPROCS): two of them may be busy, and calls still find one.
func Background() (done func()) {
	background.Lock()
	defer background.Unlock()
	if background.running++; background.running == 1 {
		background.before = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(background.before + backgroundThreads)
	}
	return sync.OnceFunc(func() {
		background.Lock()
		defer background.Unlock()
		if background.running--; background.running > 0 {
			return
		}
		if os.Getenv("GOMAXPROCS") != "" {
			runtime.GOMAXPROCS(background.before)
		} else {
			runtime.SetDefaultGOMAXPROCS() // which follows the limits of a container
		}
	})
}

// threads returns how many threads the process has without long work.
func threads() int {
	background.Lock()
	defer background.Unlock()
	if background.running > 0 {
		return background.before
	}
	return runtime.GOMAXPROCS(0)
}
