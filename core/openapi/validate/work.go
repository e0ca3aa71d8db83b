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
}

// NewWork returns the work on a call, which ends with the context.
func NewWork(ctx context.Context) *Work { return &Work{ended: ctx.Err} }

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
