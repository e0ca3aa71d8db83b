package pages

import (
	"net/http"
	"net/url"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/views/signin"
	"postern/views/ui"
)

func (h *Handler) home(*visit) (web.Answer, error) { return web.Redirect("/projects"), nil }

func (h *Handler) showSignIn(v *visit) (web.Answer, error) {
	next := web.LocalPath(v.c.Query("next"))
	signedIn, err := v.authenticate()
	if err != nil {
		return web.Answer{}, err
	}
	if signedIn {
		return redirectAfterSignIn(next), nil
	}
	m, err := h.signInForm(v, next)
	return web.Show(signin.SignInPage(m)), err
}

func (h *Handler) signInForm(v *visit, next string) (signin.SignIn, error) {
	m := signin.SignIn{
		Page:      v.shell("Sign in", withNext("/signin", next)),
		Next:      next,
		Providers: h.federatedProviders(),
	}
	if ticketIn(next).Claim != "" {
		m.Intro = "To claim the workspace, sign in with the account that should own it."
	}
	begun, err := h.Accounts.HasAccounts(v.ctx())
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

func (h *Handler) signIn(v *visit) (web.Answer, error) {
	email, next := v.posted("email"), web.LocalPath(v.posted("next"))
	session, err := h.Accounts.SignIn(v.ctx(), email, v.posted("password"), v.from())
	if err == nil {
		return redirectAfterSignIn(next), h.beginSession(v, session)
	}
	if kind := fault.KindOf(err); kind != fault.Unauthenticated && kind != fault.TooMany {
		return web.Answer{}, err
	}
	web.RecordError(v.ctx(), err)
	web.RecordCredential(v.ctx())
	problem := web.ProblemOf(err, "")
	if problem.Status == http.StatusUnauthorized {
		v.c.Header("WWW-Authenticate", web.BearerChallenge) // RFC 9110, 15.5.2: no 401 without one
	}
	web.SetRetryAfter(v.c.Writer.Header(), err)
	m, err := h.signInForm(v, next)
	m.Email, m.Error = ui.Value{Text: email}, problem.Detail
	return web.Answer{Status: problem.Status, Page: signin.SignInPage(m)}, err
}

// beginSession gives the browser a new session and ends the one it had: a session id set
// before sign-in is never reused after it (session fixation).
func (h *Handler) beginSession(v *visit, secret string) error {
	if before := h.Web.Sessions().Read(v.c.Request); before != "" {
		if err := h.Accounts.SignOut(v.ctx(), before, v.from()); err != nil {
			return err
		}
	}
	device, err := h.Accounts.RememberDevice(v.ctx(), secret, h.Web.Cookie(v.c.Request, web.DeviceCookie))
	if err != nil {
		return err
	}
	h.Web.SetCookie(v.c.Writer, web.DeviceCookie, device, accounts.DeviceTTL)
	return h.Web.Sessions().Begin(v.c.Writer, v.c.Request, secret)
}

func (h *Handler) signOut(v *visit) (web.Answer, error) {
	if session := h.Web.Sessions().Read(v.c.Request); session != "" {
		if err := h.Accounts.SignOut(v.ctx(), session, v.from()); err != nil {
			return web.Answer{}, err
		}
		if err := h.Web.Sessions().End(v.c.Writer, v.c.Request); err != nil {
			return web.Answer{}, err
		}
	}
	return web.Redirect("/signin"), nil
}

func (h *Handler) showWelcome(v *visit) (web.Answer, error) {
	valid, err := h.Accounts.LinkValid(v.ctx(), v.param("code"))
	if err != nil {
		return web.Answer{}, err
	}
	if !valid {
		return h.linkOver(v)
	}
	return web.Show(signin.WelcomePage(welcomeForm(v))), nil
}

func welcomeForm(v *visit) signin.Welcome {
	path := "/welcome/" + url.PathEscape(v.param("code"))
	return signin.Welcome{Page: v.shell("Welcome", path), Action: path, MinPasswordLength: accounts.MinPassword}
}

func (h *Handler) welcome(v *visit) (web.Answer, error) {
	in := accounts.SignUp{
		Email:    v.posted("email"),
		Name:     v.posted("name"),
		Password: v.posted("password"),
		From:     v.from(),
	}
	session, err := h.Accounts.UseLink(v.ctx(), v.param("code"), in)
	if err == nil {
		return web.Redirect("/projects"), h.beginSession(v, session)
	}
	if fault.KindOf(err) == fault.Gone {
		return h.linkOver(v)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m := welcomeForm(v)
	m.Email, m.Name = wrong.value("/email", in.Email), wrong.value("/name", in.Name)
	m.Password = wrong.take("/password")
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: signin.WelcomePage(m)}, nil
}

func (h *Handler) linkOver(v *visit) (web.Answer, error) {
	used, err := h.Accounts.HasAccounts(v.ctx())
	m := signin.LinkOver{Page: v.shell("This link doesn't work", "/signin"), Used: used}
	return web.Answer{Status: http.StatusGone, Page: signin.LinkOverPage(m)}, err
}
