package oidc

import (
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/platform/fault"
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

// wayBack is what a page needs to lead to the application with an authorization response.
func wayBack(c *gin.Context, back login.Back) pages.Back {
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

// callbackParams are the parameters of a provider's answer that loginCallback reads. Others stay out of the address,
// for example an ID token.
var callbackParams = []string{"state", "code", "iss", "error"}

// maxCallback bounds the address that callbackByPost redirects to, in bytes: servers and proxies accept 8 KB.
const maxCallback = 8000

// callbackByPost redirects an answer that a provider sent by POST (OAuth 2.0 Form Post Response Mode) to loginCallback:
// browsers do not send the cookie, which is SameSite=Lax, with a POST from another site. It changes nothing, because
// any site can send such a form.
func (h *Handler) callbackByPost(c *gin.Context) (web.Answer, error) {
	query := url.Values{}
	for _, name := range callbackParams {
		if values := c.Request.PostForm[name]; len(values) > 0 {
			query[name] = values // loginCallback refuses a repeated one
		}
	}
	u := url.URL{Path: "/oauth/" + c.Param("client") + "/callback/" + c.Param("provider"), RawQuery: query.Encode()}
	to := u.String()
	if len(to) > maxCallback {
		return h.loginFailed(c, fault.New(
			fault.TooLarge, "too_large", "The answer of the provider is larger than 8,000 bytes.",
		), "")
	}
	return web.Redirect(to), nil
}
