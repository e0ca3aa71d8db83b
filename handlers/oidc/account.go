package oidc

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/login"
	pages "postern/views/login"
)

// maxLocales bounds ui_locales in the URLs of the account page.
const maxLocales = 200

// accountPath returns the path of a client's account page, or of a form on it. It keeps the request's ui_locales.
func accountPath(c *gin.Context, form string) string {
	path := "/oauth/" + url.PathEscape(c.Param("client")) + "/account" + form
	if locales := c.Query("ui_locales"); locales != "" && len(locales) <= maxLocales {
		path += "?" + url.Values{"ui_locales": {locales}}.Encode()
	}
	return path
}

func (h *Handler) userCookie(c *gin.Context) string {
	return h.Web.Cookie(c.Request, web.HostedCookie(c.Param("client")))
}

// account shows a user their own account, and a visitor without a session how to sign in
// to it.
func (h *Handler) account(c *gin.Context) (web.Answer, error) {
	return h.accountWith(c, http.StatusOK, "")
}

func (h *Handler) accountWith(c *gin.Context, status int, complaint string) (web.Answer, error) {
	found, err := h.Login.Account(c.Request.Context(), c.Param("client"), h.userCookie(c))
	if fault.CodeOf(err) == login.CodeSignInAgain {
		look, err := h.Login.Brand(c.Request.Context(), c.Param("client"))
		if err != nil {
			return web.Answer{}, err
		}
		shell := h.loginShell(c, look)
		shell.Title = shell.Words.T("account_title")
		page := pages.AccountSignInPage(shell, accountPath(c, "/signin"), complaint)
		return web.Answer{Status: status, Page: page}, nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	m := pages.Account{
		Shell:         h.loginShell(c, found.Client),
		Error:         complaint,
		Name:          found.Name,
		Email:         found.Email,
		EndAllAction:  accountPath(c, "/sessions/end-all"),
		SignInAction:  accountPath(c, "/signin"),
		LinkAction:    accountPath(c, "/link"),
		DeleteAction:  accountPath(c, "/delete"),
		MayChangeSelf: found.Fresh,
	}
	m.Shell.Title = m.Shell.Words.T("account_title")
	for _, one := range found.Identities {
		row := pages.Linked{Label: one.Label, Since: m.Shell.Words.Date(one.Since)}
		if one.MayUnlink && found.Fresh {
			row.UnlinkAction = accountPath(c, "/providers/"+one.Key+"/unlink")
		}
		m.Providers = append(m.Providers, row)
	}
	for _, one := range found.Sessions {
		browser := ""
		if one.UserAgent != "" {
			browser = web.BrowserName(one.UserAgent)
		}
		m.Sessions = append(m.Sessions, pages.Session{
			Application: one.ClientName,
			Browser:     browser,
			Provider:    one.Provider,
			Since:       m.Shell.Words.Time(one.CreatedAt),
			Current:     one.ID == found.Session,
			EndAction:   accountPath(c, "/sessions/"+one.ID+"/end"),
		})
	}
	for _, one := range found.Consents {
		row := pages.Consented{
			Application: one.ClientName,
			Since:       m.Shell.Words.Date(one.CreatedAt),
			Action:      accountPath(c, "/consents/"+one.Client+"/withdraw"),
		}
		for _, share := range one.Shares {
			row.Shares = append(row.Shares, pages.Share(share))
		}
		m.Consents = append(m.Consents, row)
	}
	c.Header("Cache-Control", "no-store")
	return web.Answer{Status: status, Page: pages.AccountPage(m)}, nil
}

func (h *Handler) accountSignIn(c *gin.Context) (web.Answer, error) {
	return h.beginAccount(c, login.AccountSignIn{})
}

func (h *Handler) accountLink(c *gin.Context) (web.Answer, error) {
	return h.beginAccount(c, login.AccountSignIn{Link: true})
}

// invitation shows an invited user how they sign in for the first time. It changes nothing: programs that check the
// links of a mail open it too.
func (h *Handler) invitation(c *gin.Context) (web.Answer, error) {
	found, err := h.Login.PreviewInvitation(c.Request.Context(), c.Param("client"), c.Param("code"))
	if err != nil {
		return h.loginFailed(c, err, "")
	}
	shell := h.loginShell(c, found.Client)
	shell.Title = shell.Words.T("invitation_title")
	c.Header("Cache-Control", "no-store")
	return web.Show(pages.InvitationPage(shell, found.Email, c.Request.URL.EscapedPath())), nil
}

func (h *Handler) acceptInvitation(c *gin.Context) (web.Answer, error) {
	return h.beginAccount(c, login.AccountSignIn{Invitation: c.Param("code")})
}

func (h *Handler) beginAccount(c *gin.Context, in login.AccountSignIn) (web.Answer, error) {
	client, browser := c.Param("client"), login.NewBrowser()
	if err := h.Web.Throttle.AdmitLogin(client, c.Request.RemoteAddr); err != nil {
		return h.loginFailed(c, err, "")
	}
	in.ClientID, in.Browser, in.UserAgent, in.Cookie = client, browser, c.Request.UserAgent(), h.userCookie(c)
	begun, err := h.Login.BeginAccount(c.Request.Context(), in)
	if fault.KindOf(err) == fault.Gone && err != nil {
		return h.loginFailed(c, err, "")
	}
	if fault.KindOf(err) == fault.NotFound && err != nil {
		return web.Answer{}, err
	}
	if err != nil {
		return h.accountDone(c, err)
	}
	h.Web.KeepLogin(c.Writer, c.Request, begun.ID, browser)
	return web.Redirect("/oauth/" + url.PathEscape(client) + "/login/" + begun.ID), nil
}

func (h *Handler) accountEndSession(c *gin.Context) (web.Answer, error) {
	return h.accountDone(c, h.Login.EndOwnSession(
		c.Request.Context(), c.Param("client"), h.userCookie(c), c.Param("session"),
	))
}

func (h *Handler) accountUnlink(c *gin.Context) (web.Answer, error) {
	return h.accountDone(c, h.Login.Unlink(
		c.Request.Context(), c.Param("client"), h.userCookie(c), c.Param("identity"),
	))
}

func (h *Handler) accountWithdraw(c *gin.Context) (web.Answer, error) {
	return h.accountDone(c, h.Login.WithdrawOwnConsent(
		c.Request.Context(), c.Param("client"), h.userCookie(c), c.Param("application"),
	))
}

// accountDone shows the account page after a change: a second press of the same button
// finds nothing left to change, which is not an error.
func (h *Handler) accountDone(c *gin.Context, err error) (web.Answer, error) {
	switch fault.KindOf(err) {
	case fault.Unauthenticated, fault.Forbidden, fault.Conflict:
		if err != nil {
			problem := web.ProblemOf(err, web.RequestID(c.Request.Context()))
			return h.accountWith(c, problem.Status, textOf(h.words(c, ""), err, problem.Detail))
		}
	case fault.NotFound:
		err = nil
	}
	if err != nil {
		return web.Answer{}, err
	}
	return web.Redirect(accountPath(c, "")), nil
}

func (h *Handler) accountEndAll(c *gin.Context) (web.Answer, error) {
	if err := h.Login.EndOwnSessions(c.Request.Context(), c.Param("client"), h.userCookie(c)); err != nil {
		return h.accountDone(c, err)
	}
	words := h.words(c, "")
	return h.accountLeft(c, words.T("account_left_heading"), words.T("account_left_text"))
}

func (h *Handler) accountDelete(c *gin.Context) (web.Answer, error) {
	if c.Request.PostForm.Get("confirm") != "true" {
		return h.accountWith(c, http.StatusUnprocessableEntity, h.words(c, "").T("account_tick"))
	}
	user, err := h.Login.FreshUser(c.Request.Context(), c.Param("client"), h.userCookie(c))
	if err != nil {
		return h.accountDone(c, err)
	}
	if err := h.Users.DeleteSelf(c.Request.Context(), user); err != nil && fault.KindOf(err) != fault.NotFound {
		return web.Answer{}, err
	}
	words := h.words(c, "")
	return h.accountLeft(c, words.T("account_deleted_heading"), words.T("account_deleted_text"))
}

func (h *Handler) accountLeft(c *gin.Context, title, text string) (web.Answer, error) {
	h.Web.SetCookie(c.Writer, web.HostedCookie(c.Param("client")), "", 0)
	look, err := h.Login.Brand(c.Request.Context(), c.Param("client"))
	if err != nil {
		return web.Answer{}, err
	}
	shell := h.loginShell(c, look)
	shell.Title = title
	return web.Show(pages.LeftPage(shell, text)), nil
}
