package handlers

import (
	"net/http"
	"net/url"

	"postern/platform/fault"
	"postern/service/accounts"
	"postern/views/signin"
	"postern/views/ui"
)

func (s *Server) askSignIn(v *visit) (answer, error) {
	next := localPath(v.c.Query("next"))
	signedIn, err := v.identify()
	if err != nil {
		return answer{}, err
	}
	if signedIn {
		return goOn(next), nil
	}
	m, err := s.signInForm(v, next)
	return show(signin.SignInPage(m)), err
}

func (s *Server) signInForm(v *visit, next string) (signin.SignIn, error) {
	m := signin.SignIn{Page: v.shell("Sign in", withNext("/signin", next)), Next: next, Elsewhere: s.elsewhere()}
	if ticketIn(next).Claim != "" {
		m.Intro = "To claim what was made without signing in, use the account it shall belong to."
	}
	begun, err := s.Accounts.Begun(v.ctx())
	if err != nil {
		return m, err
	}
	m.Fresh = !begun
	m.SignUpURL, err = s.signUpURL(v, next)
	return m, err
}

func goOn(next string) answer {
	if next == "" {
		next = "/projects"
	}
	return goTo(next)
}

func (s *Server) signIn(v *visit) (answer, error) {
	email, next := v.posted("email"), localPath(v.posted("next"))
	session, err := s.Accounts.SignIn(v.ctx(), email, v.posted("password"), v.from())
	if err == nil {
		return goOn(next), s.beginSession(v, session)
	}
	if kind := fault.KindOf(err); kind != fault.Unauthenticated && kind != fault.TooMany {
		return answer{}, err
	}
	note(v.ctx(), err)
	trailOf(v.ctx()).credential = true
	problem := problemOf(err, "")
	if problem.Status == http.StatusUnauthorized {
		v.c.Header("WWW-Authenticate", bearerChallenge) // RFC 9110, 15.5.2: no 401 without one
	}
	setRetryAfter(v.c.Writer.Header(), err)
	m, err := s.signInForm(v, next)
	m.Email, m.Error = ui.Value{Text: email}, problem.Detail
	return answer{status: problem.Status, page: signin.SignInPage(m)}, err
}

// beginSession changes the browser's session for a new one: a session that
// somebody planted there must not become a signed-in one, and the one before
// must not live on unseen.
func (s *Server) beginSession(v *visit, secret string) error {
	if before := s.sessions().read(v.c.Request); before != "" {
		if err := s.Accounts.SignOut(v.ctx(), before, v.from()); err != nil {
			return err
		}
	}
	device, err := s.Accounts.KnowDevice(v.ctx(), secret, s.cookie(v.c.Request, deviceCookie))
	if err != nil {
		return err
	}
	s.setCookie(v.c.Writer, deviceCookie, device, accounts.DeviceTTL)
	return s.sessions().begin(v.c.Writer, v.c.Request, secret)
}

func (s *Server) signOut(v *visit) (answer, error) {
	if session := s.sessions().read(v.c.Request); session != "" {
		if err := s.Accounts.SignOut(v.ctx(), session, v.from()); err != nil {
			return answer{}, err
		}
		if err := s.sessions().end(v.c.Writer, v.c.Request); err != nil {
			return answer{}, err
		}
	}
	return goTo("/signin"), nil
}

func (s *Server) askWelcome(v *visit) (answer, error) {
	valid, err := s.Accounts.LinkValid(v.ctx(), v.param("code"))
	if err != nil {
		return answer{}, err
	}
	if !valid {
		return s.linkOver(v)
	}
	return show(signin.WelcomePage(welcomeForm(v))), nil
}

func welcomeForm(v *visit) signin.Welcome {
	path := "/welcome/" + url.PathEscape(v.param("code"))
	return signin.Welcome{Page: v.shell("Welcome", path), Action: path, MinPasswordLength: accounts.MinPassword}
}

func (s *Server) welcome(v *visit) (answer, error) {
	in := accounts.SignUp{Email: v.posted("email"), Name: v.posted("name"), Password: v.posted("password"), From: v.from()}
	session, err := s.Accounts.UseLink(v.ctx(), v.param("code"), in)
	if err == nil {
		return goTo("/projects"), s.beginSession(v, session)
	}
	if fault.KindOf(err) == fault.Gone {
		return s.linkOver(v)
	}
	wrong, ok := mistakesIn(err)
	if !ok {
		return answer{}, err
	}
	m := welcomeForm(v)
	m.Email, m.Name = wrong.value("/email", in.Email), wrong.value("/name", in.Name)
	m.Password = wrong.take("/password")
	m.Error = wrong.rest()
	return answer{status: wrong.status, page: signin.WelcomePage(m)}, nil
}

func (s *Server) linkOver(v *visit) (answer, error) {
	used, err := s.Accounts.Begun(v.ctx())
	m := signin.LinkOver{Page: v.shell("This link is over", "/signin"), Used: used}
	return answer{status: http.StatusGone, page: signin.LinkOverPage(m)}, err
}
