package api

import (
	"postern/core/contract"
	"postern/platform/secrets"
	"postern/service/projects"
)

// readIntrospection returns nil for nil.
func readIntrospection(b *contract.NewIntrospection) *projects.IntrospectionInput {
	if b == nil {
		return nil
	}
	out := &projects.IntrospectionInput{Introspection: b.Introspection}
	if b.ClientSecret != nil {
		secret := secrets.Given(b.ClientSecret.Reveal())
		out.ClientSecret = &secret
	}
	return out
}
