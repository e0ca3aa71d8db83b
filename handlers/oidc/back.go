package oidc

import (
	"strings"

	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/service/login"
	pages "postern/views/login"
)

// sendBack leads the browser to the application with an authorization response.
func (h *Handler) sendBack(c *gin.Context, back login.Back) (web.Answer, error) {
	if back.Form == nil {
		return web.Redirect(back.URL), nil
	}
	brand, err := h.Login.Brand(c.Request.Context(), c.Param("client"))
	if err != nil {
		return web.Answer{}, err
	}
	m := pages.FormPost{Shell: h.loginShell(c, brand), Back: pages.Back(back)}
	web.ReplaceSource(c.Writer.Header(), "form-action 'self'", "form-action "+postTarget(back.URL))
	return web.Show(pages.FormPostPage(m)), nil
}

// returnTarget returns the URL of the application with an authorization response, for a page that leads there.
func returnTarget(c *gin.Context, back login.Back) pages.Back {
	if back.Form != nil {
		web.AllowSource(c.Writer.Header(), "form-action 'self'", postTarget(back.URL))
	}
	return pages.Back(back)
}

// postTarget returns the source expression of a redirect URI, which has no query (CSP Level 3, 2.3.1).
func postTarget(uri string) string {
	uri, _, _ = strings.Cut(uri, "?")
	return formTarget(uri)
}

// callbackByPost redirects an answer that a provider sent by POST to loginCallback.
func (h *Handler) callbackByPost(c *gin.Context) (web.Answer, error) {
	to, err := web.CallbackByPost(c.Request)
	if err != nil {
		return h.loginFailed(c, err, "")
	}
	return web.Redirect(to), nil
}
