package web

import (
	"context"
	"math/rand/v2"
	"time"

	"postern/platform/fault"
)

// The bounds of repeating a change that another one came before.
const (
	maxRetries = 20
	retryDelay = 25 * time.Millisecond // at most, before each repetition
)

type anyStateKey struct{}

// WithIfMatch notes a request whose If-Match admits any state (RFC 9110, 13.1.1).
func WithIfMatch(ctx context.Context, ifMatch string) context.Context {
	if ifMatch != "" && ifMatch != "*" {
		return ctx
	}
	return context.WithValue(ctx, anyStateKey{}, true)
}

// RetryStale runs a change again while another change of the same row comes in
// between. Only a caller who named a state with If-Match is told of that with 412.
func RetryStale[Out any](ctx context.Context, change func() (Out, error)) (Out, error) {
	out, err := change()
	unconditional, _ := ctx.Value(anyStateKey{}).(bool)
	for races := 1; unconditional && fault.KindOf(err) == fault.Stale && races < maxRetries; races++ {
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(rand.N(retryDelay)):
		}
		out, err = change()
	}
	return out, err
}
