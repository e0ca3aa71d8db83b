package projects

import (
	"slices"

	"postern/core/snapshot"
	"postern/platform/fault"
)

// applyLoginDefaults makes authenticate the default mode of a project that is created
// with a login, so that a call without one of its tokens is refused. The default method is
// jwt; with requests_auth in the body, api_key too. It returns a fault if the methods do
// not include jwt, because the login's tokens would have no effect.
func (in *CreateInput) applyLoginDefaults() []fault.Field {
	if in.Login == nil {
		return nil
	}
	if in.Auth.Methods != nil && !slices.Contains(in.Auth.Methods, snapshot.JWT) {
		return []fault.Field{{
			Pointer: "/requests_auth/methods",
			Code:    "method_missing",
			Detail:  "login issues tokens that the jwt method verifies. Add jwt to the methods, or leave login out.",
		}}
	}
	if in.Auth.Methods == nil && !in.Auth.IsSet() {
		in.Auth.Methods = []string{snapshot.JWT}
	}
	if in.Auth.Mode == "" {
		in.Auth.Mode = snapshot.Authenticate
	}
	return nil
}
