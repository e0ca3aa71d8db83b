package oidc

import (
	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/service/login"
)

// finished leads back to the application after a sign-in, and gives the browser the cookie
// of the user's session. It replaces one that was set before the sign-in (session
// fixation).
func (h *Handler) finished(c *gin.Context, done login.Finished) (web.Answer, error) {
	if cookie := done.Cookie.Reveal(); cookie != "" {
		h.Web.SetCookie(c.Writer, web.HostedCookie(c.Param("client")), cookie, login.HostedTTL)
	}
	return h.sendBack(c, done.Back)
}
