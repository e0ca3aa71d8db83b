package ui

import "context"

// NonceField is the hidden field with the nonce of a form.
const NonceField = "nonce"

// NonceFunc returns the nonce of a form that is posted to action while what it
// changes is in state.
type NonceFunc func(action, state string) string

type nonceKey struct{}

// WithNonces sets how the forms of a page get their nonces.
func WithNonces(ctx context.Context, nonce NonceFunc) context.Context {
	return context.WithValue(ctx, nonceKey{}, nonce)
}

func nonceOf(ctx context.Context, action, state string) string {
	nonce, ok := ctx.Value(nonceKey{}).(NonceFunc)
	if !ok {
		return ""
	}
	return nonce(action, state)
}
