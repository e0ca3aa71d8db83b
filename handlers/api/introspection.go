package api

import (
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/service/projects"
)

// readIntrospection returns nil for nil.
func readIntrospection(b *contract.NewIntrospection) *projects.IntrospectionInput {
	return projects.ReadIntrospection(b)
}

// readIssuers returns the issuers of a body: an empty list, not nil, if there are none.
func readIssuers(b contract.JWT) []snapshot.TokenIssuer {
	return append([]snapshot.TokenIssuer{}, b.AllowedPairs...)
}
