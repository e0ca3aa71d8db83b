package oidc

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/service/login"
	pages "postern/views/login"
)

// logout is the end session endpoint (OpenID Connect RP-Initiated Logout 1.0, 2).
func (h *Handler) logout(c *gin.Context) (web.Answer, error) { return h.signOut(c, false) }

// confirmLogout takes the form of the page on which logout asks. Other sites cannot post it.
func (h *Handler) confirmLogout(c *gin.Context) (web.Answer, error) { return h.signOut(c, true) }

func (h *Handler) signOut(c *gin.Context, confirmed bool) (web.Answer, error) {
	values, posted := c.Request.URL.Query(), c.Request.Method == http.MethodPost
	if posted {
		values = c.Request.PostForm
	}
	asked := web.ParseOAuthParams(values)
	out, err := h.Login.Logout(c.Request.Context(), login.LogoutInput{
		ClientID:    c.Param("client"),
		NamedClient: asked.Get("client_id"),
		Hint:        asked.Get("id_token_hint"),
		Cookie:      h.userCookie(c),
		To:          asked.Get("post_logout_redirect_uri"),
		State:       asked.Get("state"),
		Locales:     asked.Get("ui_locales"),
		Repeated:    asked.Repeated,
		Confirmed:   confirmed,
		AtProvider:  confirmed && asked.Get("answer") == "provider",
		Posted:      posted,
	})
	if err != nil {
		return h.loginFailed(c, err, "")
	}
	if out.Ended {
		h.Web.SetCookie(c.Writer, web.HostedCookie(c.Param("client")), "", 0)
	}
	if out.Refused != nil {
		h.logLogin(c, out.Refused)
	}
	if out.Asks || out.Refused != nil {
		return h.askSignOut(c, out), nil //nolint:nilerr // the page says why it was refused
	}
	if confirmed && asked.Get("answer") == "provider" && out.ProviderURL != "" {
		return web.Redirect(out.ProviderURL), nil
	}
	if out.Back != "" && !out.Client.Unclaimed {
		return web.Redirect(out.Back), nil
	}
	m := pages.SignedOut{
		Shell:        h.loginShell(c, out.Client),
		Back:         out.Back,
		Unregistered: out.Unregistered,
		Provider:     out.Provider,
		ProviderURL:  out.ProviderURL,
	}
	m.Shell.Title = m.Shell.Words.T("signed_out")
	return web.Show(pages.SignedOutPage(m)), nil
}

// askSignOut asks a user who may be signed in, or says why the application's request is not followed, or both.
func (h *Handler) askSignOut(c *gin.Context, out login.LoggedOut) web.Answer {
	m := pages.SignOut{Shell: h.loginShell(c, out.Client), Who: out.Who, Provider: out.Provider}
	m.Shell.Title = m.Shell.Words.T("sign_out")
	status := http.StatusOK
	if out.Refused != nil {
		status, m.Refused = web.StatusOf(out.Refused.Kind), textOf(m.Shell.Words, out.Refused, out.Refused.Public)
	}
	if out.Asks {
		m.Action = "/oauth/" + url.PathEscape(c.Param("client")) + "/logout/confirm"
		for _, name := range []string{"client_id", "post_logout_redirect_uri", "state"} {
			if value := out.Form.Get(name); value != "" {
				m.Fields = append(m.Fields, pages.Field{Name: name, Value: value})
			}
		}
		// The answer to the form redirects, and form-action applies to redirects too. A provider may redirect further.
		targets := formTarget(out.Site)
		if out.ProviderURL != "" {
			targets += " https: http://127.0.0.1:* http://localhost:*"
		}
		web.AllowSource(c.Writer.Header(), "form-action 'self'", targets)
	}
	return web.Answer{Status: status, Page: pages.AskSignOutPage(m)}
}
