package h2

import "sync"

// task is a unit of work.
type task interface{ run() }

// maxIdleWorkers is how many goroutines wait for a task. A call grows the stack of its goroutine, and the runtime would
// copy that of a new one several times.
const maxIdleWorkers = 256

// workers run tasks on goroutines that are used again. The zero value is ready for use.
type workers struct {
	mu     sync.Mutex
	idle   []chan task // the most recently used is last
	closed bool        // idle goroutines end
}

// do has a worker run a task. It does not block.
func (w *workers) do(t task) {
	w.mu.Lock()
	n := len(w.idle)
	if n == 0 {
		w.mu.Unlock()
		go w.work(t)
		return
	}
	next := w.idle[n-1]
	w.idle[n-1] = nil
	w.idle = w.idle[:n-1]
	w.mu.Unlock()
	next <- t // has room: its worker waits
}

func (w *workers) work(t task) {
	next := make(chan task, 1)
	for t != nil {
		t.run()
		if !w.rest(next) {
			return
		}
		t = <-next
	}
}

// rest marks a worker as idle. It returns false if there are enough.
func (w *workers) rest(next chan task) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.idle) >= maxIdleWorkers {
		return false
	}
	w.idle = append(w.idle, next)
	return true
}

// close ends the idle workers, and the others after their tasks.
func (w *workers) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for _, next := range w.idle {
		close(next)
	}
	w.idle = nil
}
