package oidc

import (
	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/service/login"
)

// introspect describes a token to a client with a secret (RFC 7662). For a token that is
// not active, and for one of another client, it answers 200 and active false alike.
func (h *Handler) introspect(c *gin.Context) {
	var found login.Introspection
	err := h.withClient(c, func(client login.Credentials, form *web.OAuthParams) (err error) {
		found, err = h.Login.Introspect(c.Request.Context(), client, form.Get("token"))
		return err
	})
	if err != nil {
		h.refuseClient(c, err)
		return
	}
	writeJSON(c.Writer, found)
}
