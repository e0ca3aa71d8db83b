package web

import (
	"context"
	"math/rand/v2"
	"time"

	"postern/platform/fault"
)

// Bounds of RetryStale.
const (
	maxRetries = 20
	retryDelay = 25 * time.Millisecond // at most, before each retry
)

type anyStateKey struct{}

// WithIfMatch returns a context for RetryStale: a request whose If-Match is absent or
// "*" accepts any state of the object (RFC 9110, 13.1.1).
func WithIfMatch(ctx context.Context, ifMatch string) context.Context {
	if ifMatch != "" && ifMatch != "*" {
		return ctx
	}
	return context.WithValue(ctx, anyStateKey{}, true)
}

// RetryStale runs change, and again while it fails with fault.Stale because another
// change of the same row was committed first. Callers that named a state with
// If-Match get the first error instead, which becomes 412.
func RetryStale[Out any](ctx context.Context, change func() (Out, error)) (Out, error) {
	out, err := change()
	anyState, _ := ctx.Value(anyStateKey{}).(bool)
	for tries := 1; anyState && fault.KindOf(err) == fault.Stale && tries < maxRetries; tries++ {
		select {
		case <-ctx.Done():
			return out, err
		case <-time.After(rand.N(retryDelay)): //nolint:gosec // a delay is not a secret
		}
		out, err = change()
	}
	return out, err
}
