package validate

import "context"

// MaxSteps bounds the steps that the validation of one call takes. They are about 200 ms.
const MaxSteps = 2_000_000

// checkEvery is the number of steps between two checks that the caller is still there, about a millisecond.
const checkEvery = 10_000

// Work counts the steps that the validation of one call takes, whichever operations its path can be read as. They grow
// with what is read of the call and of the document.
type Work struct {
	steps, checked int
	ended          func() error

	memory, held int                    // bytes: that were used, and that were requested
	hold         func(bytes int64) bool // nil: there is enough
	starved      bool
}

// holdAtOnce is how many bytes of memory are requested at a time.
const holdAtOnce = 64 << 10

// NewWork returns the work on a call, which ends with the context.
func NewWork(ctx context.Context) *Work { return &Work{ended: ctx.Err} }

// Within has the work ask for the memory that values of the call take once they are read. hold returns false if there
// is none left.
func (w *Work) Within(hold func(bytes int64) bool) *Work {
	w.hold = hold
	return w
}

// Starved reports whether the call was not validated because there was no memory left.
func (w *Work) Starved() bool { return w.starved }

// take counts memory. It returns false when there is none left.
func (w *Work) take(bytes int) bool {
	if w.memory += bytes; w.memory <= w.held || w.hold == nil {
		return !w.starved
	}
	more := max(w.memory-w.held, holdAtOnce)
	if w.starved = w.starved || !w.hold(int64(more)); w.starved {
		return false
	}
	w.held += more
	return true
}

// Steps returns how many were taken.
func (w *Work) Steps() int { return w.steps }

// spend counts steps. It returns false when there have been too many, or when the caller has left.
func (w *Work) spend(steps int) bool {
	if w.steps += steps; w.steps-w.checked >= checkEvery {
		if w.checked = w.steps; w.ended() != nil {
			w.steps = MaxSteps + 1
		}
	}
	return w.steps <= MaxSteps
}
