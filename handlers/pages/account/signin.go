package account

import (
	"net/http"
	"net/url"

	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/views/signin"
	"postern/views/ui"
)

func (h *Handler) home(*page.Visit) (web.Answer, error) { return web.Redirect("/projects"), nil }

func (h *Handler) showSignIn(v *page.Visit) (web.Answer, error) {
	next := web.LocalPath(v.Gin.Query("next"))
	signedIn, err := v.Authenticate()
	if err != nil {
		return web.Answer{}, err
	}
	if signedIn {
		return redirectAfterSignIn(next), nil
	}
	m, err := h.signInForm(v, next)
	return web.Show(signin.SignInPage(m)), err
}

func (h *Handler) signInForm(v *page.Visit, next string) (signin.SignIn, error) {
	m := signin.SignIn{
		Page:      v.Shell("Sign in", page.WithNext("/signin", next)),
		Next:      next,
		Providers: h.federatedProviders(),
	}
	if ticketIn(next).Claim != "" {
		m.Intro = "To claim the workspace, sign in with the account that should own it."
	}
	begun, err := h.Accounts.HasAccounts(v.Ctx())
	if err != nil {
		return m, err
	}
	m.Fresh = !begun
	m.SignUpURL, err = h.signUpURL(v, next)
	return m, err
}

func redirectAfterSignIn(next string) web.Answer {
	if next == "" {
		next = "/projects"
	}
	return web.Redirect(next)
}

func (h *Handler) signIn(v *page.Visit) (web.Answer, error) {
	email, next := v.Posted("email"), web.LocalPath(v.Posted("next"))
	session, err := h.Accounts.SignIn(v.Ctx(), email, v.Posted("password"), from(v))
	if err == nil {
		return redirectAfterSignIn(next), h.beginSession(v, session)
	}
	if kind := fault.KindOf(err); kind != fault.Unauthenticated && kind != fault.TooMany {
		return web.Answer{}, err
	}
	web.RecordError(v.Ctx(), err)
	web.RecordCredential(v.Ctx())
	problem := web.ProblemOf(err, "")
	if problem.Status == http.StatusUnauthorized {
		v.Gin.Header("WWW-Authenticate", web.BearerChallenge) // RFC 9110, 15.5.2: no 401 without one
	}
	web.SetRetryAfter(v.Gin.Writer.Header(), err)
	m, err := h.signInForm(v, next)
	m.Email, m.Error = ui.Value{Text: email}, problem.Detail
	return web.Answer{Status: problem.Status, Page: signin.SignInPage(m)}, err
}

// beginSession gives the browser a new session and ends the one it had: a session id set
// before sign-in is never reused after it (session fixation).
func (h *Handler) beginSession(v *page.Visit, secret string) error {
	if before := h.Web.Sessions().Read(v.Gin.Request); before != "" {
		if err := h.Accounts.SignOut(v.Ctx(), before, from(v)); err != nil {
			return err
		}
	}
	device, err := h.Accounts.RememberDevice(v.Ctx(), secret, h.Web.Cookie(v.Gin.Request, web.DeviceCookie))
	if err != nil {
		return err
	}
	h.Web.SetCookie(v.Gin.Writer, web.DeviceCookie, device, accounts.DeviceTTL)
	return h.Web.Sessions().Begin(v.Gin.Writer, v.Gin.Request, secret)
}

func (h *Handler) signOut(v *page.Visit) (web.Answer, error) {
	if session := h.Web.Sessions().Read(v.Gin.Request); session != "" {
		if err := h.Accounts.SignOut(v.Ctx(), session, from(v)); err != nil {
			return web.Answer{}, err
		}
		if err := h.Web.Sessions().End(v.Gin.Writer, v.Gin.Request); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Redirect("/signin"), nil
}

func (h *Handler) showWelcome(v *page.Visit) (web.Answer, error) {
	valid, err := h.Accounts.LinkValid(v.Ctx(), v.Param("code"))
	if err != nil {
		return web.Answer{}, err
	}
	if !valid {
		return h.linkOver(v)
	}
	return web.Show(signin.WelcomePage(welcomeForm(v))), nil
}

func welcomeForm(v *page.Visit) signin.Welcome {
	path := "/welcome/" + url.PathEscape(v.Param("code"))
	return signin.Welcome{Page: v.Shell("Welcome", path), Action: path, MinPasswordLength: accounts.MinPassword}
}

func (h *Handler) welcome(v *page.Visit) (web.Answer, error) {
	in := accounts.SignUp{
		Email:    v.Posted("email"),
		Name:     v.Posted("name"),
		Password: v.Posted("password"),
		From:     from(v),
	}
	session, err := h.Accounts.UseLink(v.Ctx(), v.Param("code"), in)
	if err == nil {
		return web.Redirect("/projects"), h.beginSession(v, session)
	}
	if fault.KindOf(err) == fault.Gone {
		return h.linkOver(v)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m := welcomeForm(v)
	m.Email, m.Name = wrong.Value("/email", in.Email), wrong.Value("/name", in.Name)
	m.Password = wrong.Take("/password")
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: signin.WelcomePage(m)}, nil
}

func (h *Handler) linkOver(v *page.Visit) (web.Answer, error) {
	used, err := h.Accounts.HasAccounts(v.Ctx())
	m := signin.LinkOver{Page: v.Shell("This link doesn't work", "/signin"), Used: used}
	return web.Answer{Status: http.StatusGone, Page: signin.LinkOverPage(m)}, err
}

// chooseTheme keeps the theme in a cookie: it belongs to a screen, not to an account.
func (h *Handler) chooseTheme(v *page.Visit) (web.Answer, error) {
	theme := v.Posted("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	h.Web.SetCookie(v.Gin.Writer, web.ThemeCookie, theme, web.ThemeTTL)
	return back(v), nil
}

// chooseSidebar keeps whether the sidebar shows icons only in a cookie, as the theme.
func (h *Handler) chooseSidebar(v *page.Visit) (web.Answer, error) {
	rail := v.Posted("rail")
	if rail != "true" {
		rail = ""
	}
	h.Web.SetCookie(v.Gin.Writer, web.RailCookie, rail, web.ThemeTTL)
	return back(v), nil
}

// back redirects to the page that the form was on.
func back(v *page.Visit) web.Answer {
	to := web.LocalPath(v.Posted("return_to"))
	if to == "" {
		to = "/"
	}
	return web.Answer{To: to, Status: http.StatusSeeOther}
}
