// Package tokens serves the pages of an account's access tokens, and the page on which a command line gets one
// (RFC 8628).
//
// It leaves tokens and permissions to service/tokens.
package tokens

import (
	"postern/handlers/page"
	"postern/service/tokens"
)

// Handler serves the pages of access tokens.
type Handler struct {
	Tokens *tokens.Service
}

// Mount mounts the pages of access tokens.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", "/settings/tokens", h.showTokens)
	p.SecretForm("/settings/tokens", h.createToken, "expires_at name scopes")
	p.SignedIn("GET", "/settings/tokens/:token/secret", h.showNewToken)
	p.SignedIn("GET", "/settings/tokens/:token", h.showRevokeToken)
	p.SignedIn("POST", "/settings/tokens/:token/revoke", h.revokeToken)
	p.SignedIn("GET", "/device", h.showDevice)
	p.SignedIn("POST", "/device", h.decideDevice, "decision user_code")
	p.SignedIn("GET", deviceApproved, h.showDecided)
	p.SignedIn("GET", deviceDenied, h.showDecided)
}
