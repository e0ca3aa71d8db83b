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
	if in.Auth.Methods != nil && !slices.Contains(in.Auth.Methods, string(snapshot.JWT)) {
		return []fault.Field{{
			Pointer: "/requests_auth/methods",
			Code:    "method_missing",
			Detail: "A login issues tokens that the method jwt verifies. Name jwt among the methods, or leave " +
				"login out.",
		}}
	}
	if in.Auth.Methods == nil && !in.hasAuth() {
		in.Auth.Methods = []string{string(snapshot.JWT)}
	}
	if in.Auth.Mode == "" {
		in.Auth.Mode = string(snapshot.Authenticate)
	}
	return nil
}

// hasAuth reports whether the input has any setting of requests_auth.
func (in *CreateInput) hasAuth() bool {
	a := in.Auth
	return a.Mode != "" || a.Methods != nil || a.Keyless != "" || len(a.Issuers) > 0 || a.Opaque != nil ||
		len(in.KeyTypes) > 0
}
