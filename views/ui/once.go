package ui

import "context"

// OnceField is the hidden field that says which rendering of a form was sent.
const OnceField = "once"

type onceKey struct{}

// WithOnce gives the forms of one page their nonce.
func WithOnce(ctx context.Context, nonce string) context.Context {
	return context.WithValue(ctx, onceKey{}, nonce)
}

func onceOf(ctx context.Context) string {
	nonce, _ := ctx.Value(onceKey{}).(string)
	return nonce
}
