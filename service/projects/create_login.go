package projects

import (
	"slices"

	"postern/core/snapshot"
	"postern/platform/fault"
)

// applyLoginDefaults gives a project that is created with a login the mode authenticate,
// so that a call without one of its tokens is refused. The methods are jwt where only
// the login is sent, and api_key beside it where requests_auth is sent too; passthrough
// has to be asked for. It returns what is wrong with methods that leave the login's
// tokens unread.
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

// hasAuth reports whether the caller said anything about authentication.
func (in *CreateInput) hasAuth() bool {
	a := in.Auth
	return a.Mode != "" || a.Methods != nil || a.Keyless != "" || len(a.Issuers) > 0 || a.Opaque != nil ||
		len(in.KeyTypes) > 0
}
