package web

import (
	"context"
	"math/rand/v2"
	"time"

	"postern/platform/fault"
)

// The bounds of repeating a change that another one came before.
const (
	maxRaces  = 20
	raceDelay = 25 * time.Millisecond // at most, before each repetition
)

type unconditionalKey struct{}

// WithUnconditional notes a request whose If-Match admits any state (RFC 9110, 13.1.1).
func WithUnconditional(ctx context.Context, ifMatch string) context.Context {
	if ifMatch != "" && ifMatch != "*" {
		return ctx
	}
	return context.WithValue(ctx, unconditionalKey{}, true)
}

// RepeatRaced runs a change again while another change of the same row comes in
// between. Only a caller who named a state with If-Match is told of that with 412.
func RepeatRaced[Out any](ctx context.Context, change func() (Out, error)) (Out, error) {
	out, err := change()
	unconditional, _ := ctx.Value(unconditionalKey{}).(bool)
	for races := 1; unconditional && fault.KindOf(err) == fault.Stale && races < maxRaces; races++ {
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(rand.N(raceDelay)):
		}
		out, err = change()
	}
	return out, err
}
