package handlers

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"postern/platform/fault"
	"postern/service/login"
	pages "postern/views/login"
)

// loginCookie holds the secret that binds logins to a browser.
const loginCookie = "login"

// loginTTL is how long the cookie stays after the last login was begun. It may
// outlive the login, which is bound in time by itself.
const loginTTL = time.Hour

func (s *Server) authorize(v *visit) (answer, error) {
	values := v.c.Request.URL.Query()
	if v.c.Request.Method == http.MethodPost {
		values = v.c.Request.PostForm
	}
	asked := readOnce(values)
	client, browser := v.param("client"), s.cookie(v.c.Request, loginCookie)
	if asked.get("client_id") != client {
		return s.loginFailed(v, fault.New(fault.Malformed, "invalid_request", "The application asked in another one's name. Tell whoever runs it."), "")
	}
	if err := s.oauthTries.begin(client, v.c.Request.RemoteAddr); err != nil {
		return s.loginFailed(v, err, "")
	}
	if browser == "" {
		browser = login.NewBrowser()
	}
	begun, err := s.Login.Begin(v.ctx(), login.AuthorizeInput{ClientID: client, RedirectURI: asked.get("redirect_uri"), ResponseType: asked.get("response_type"),
		ResponseMode: asked.get("response_mode"), Scope: asked.get("scope"), State: asked.get("state"), Nonce: asked.get("nonce"),
		Challenge: asked.get("code_challenge"), ChallengeMethod: asked.get("code_challenge_method"), Prompt: asked.get("prompt"), MaxAge: asked.get("max_age"),
		Request: asked.get("request") + asked.get("request_uri"), Repeated: asked.repeated}, browser)
	if err != nil {
		return s.loginFailed(v, err, "")
	}
	if begun.Refused != "" {
		m := pages.Problem{Shell: s.loginShell(v, begun.Client), Status: http.StatusBadRequest, Text: begun.Refused, Back: begun.Back, RequestID: requestID(v.ctx())}
		return answer{status: m.Status, page: pages.ProblemPage(m)}, nil
	}
	if begun.Back != "" {
		return goTo(begun.Back), nil
	}
	s.setCookie(v.c.Writer, loginCookie, browser, loginTTL)
	return s.choose(v, begun, http.StatusOK, ""), nil
}

func (s *Server) choose(v *visit, begun login.Begun, status int, complaint string) answer {
	m := pages.Choose{Shell: s.loginShell(v, begun.Client), Error: complaint, Back: begun.Back}
	m.Shell.Trial = begun.Trial
	for _, offer := range begun.Offers {
		m.Offers = append(m.Offers, pages.Offer{Type: offer.Type, Label: offer.Label,
			URL: "/oauth/" + url.PathEscape(v.param("client")) + "/login/" + begun.Attempt + "/" + offer.ID})
	}
	return answer{status: status, page: pages.ChoosePage(m)}
}

// loginShell dresses a page in the client's colours, and opens the page's policy
// for the client's logo.
func (s *Server) loginShell(v *visit, brand login.Look) pages.Shell {
	shell := pages.Shell{Title: "Sign in", App: brand.Title, Welcome: brand.Welcome, LogoURL: brand.LogoURL, Theme: s.theme(v.c.Request),
		Unclaimed: brand.Unclaimed, Site: brand.Site}
	if brand.Title != "" && !brand.Unclaimed {
		shell.Title = "Sign in to " + brand.Title
	}
	if brand.Color != "" {
		shell.Brand = "/oauth/" + url.PathEscape(v.param("client")) + "/brand.css"
	}
	if u, err := url.Parse(brand.LogoURL); err == nil && u.Host != "" {
		v.widen("img-src 'self' data:", u.Scheme+"://"+u.Host)
	}
	v.c.Header("Referrer-Policy", "no-referrer")
	return shell
}

// widen adds a source to one directive of the page's Content-Security-Policy.
func (v *visit) widen(directive, source string) {
	h := v.c.Writer.Header()
	h.Set("Content-Security-Policy", strings.Replace(h.Get("Content-Security-Policy"), directive, directive+" "+source, 1))
}

// resumeLogin shows the providers of a login that is under way in this browser.
func (s *Server) resumeLogin(v *visit) (answer, error) {
	begun, err := s.Login.Resume(v.ctx(), v.param("client"), v.param("attempt"), s.cookie(v.c.Request, loginCookie))
	if err != nil {
		return s.loginFailed(v, err, "")
	}
	if len(begun.Offers) == 0 {
		return goTo(begun.Back), nil
	}
	begun.Back = ""
	return s.choose(v, begun, http.StatusOK, ""), nil
}

func (s *Server) chooseProvider(v *visit) (answer, error) {
	to, err := s.Login.Choose(v.ctx(), v.param("client"), v.param("attempt"), v.param("provider"), s.cookie(v.c.Request, loginCookie))
	if err != nil {
		return s.loginFailed(v, err, v.param("attempt"))
	}
	return goTo(to), nil
}

func (s *Server) loginCallback(v *visit) (answer, error) {
	got := readOnce(v.c.Request.URL.Query())
	attempt, _, _ := strings.Cut(got.get("state"), ".")
	arrived, err := s.Login.Answer(v.ctx(), login.CallbackInput{Client: v.param("client"), Provider: v.param("provider"), State: got.get("state"),
		Code: got.get("code"), Issuer: got.get("iss"), Error: got.get("error"), Repeated: got.repeated}, s.cookie(v.c.Request, loginCookie))
	if err != nil {
		return s.loginFailed(v, err, attempt)
	}
	if arrived.Back != "" {
		return goTo(arrived.Back), nil
	}
	m := pages.Consent{Shell: s.loginShell(v, arrived.Client), Action: "/oauth/" + url.PathEscape(v.param("client")) + "/consent", Attempt: arrived.Attempt,
		Ticket: arrived.Ticket.Reveal(), Name: arrived.Person.Name, Email: arrived.Person.Email, Provider: arrived.Label, Site: arrived.Site, Again: arrived.Before != ""}
	m.Shell.Trial = arrived.Trial
	for _, one := range arrived.Shares {
		m.Shares = append(m.Shares, pages.Share(one))
	}
	// The answer to this form leads to the client's site, which browsers count as
	// a place that the form leads to.
	v.widen("form-action 'self'", arrived.Site)
	return show(pages.ConsentPage(m)), nil
}

func (s *Server) consent(v *visit) (answer, error) {
	browser, attempt := s.cookie(v.c.Request, loginCookie), v.posted("attempt")
	var to string
	var err error
	if v.posted("answer") == "agree" {
		to, err = s.Login.Agree(v.ctx(), v.param("client"), attempt, v.posted("ticket"), browser)
	} else {
		to, err = s.Login.Decline(v.ctx(), v.param("client"), attempt, browser)
	}
	if err != nil {
		return s.loginFailed(v, err, attempt)
	}
	return goTo(to), nil
}

// loginFailed says on a page of the client's why somebody is not signed in. Where
// the login is still under way in this browser, it offers the providers once more,
// or the way back to the application.
func (s *Server) loginFailed(v *visit, err error, attempt string) (answer, error) {
	known := fault.KindOf(err)
	if known == fault.Internal {
		return answer{}, err
	}
	s.logLogin(v, err)
	setRetryAfter(v.c.Writer.Header(), err)
	problem := problemOf(err, requestID(v.ctx()))
	again, againErr := s.Login.Resume(v.ctx(), v.param("client"), attempt, s.cookie(v.c.Request, loginCookie))
	if againErr == nil && again.Trial {
		problem.Detail = withCause(problem.Detail, err)
	}
	if againErr == nil && len(again.Offers) > 0 {
		return s.choose(v, again, problem.Status, problem.Detail), nil
	}
	brand, brandErr := s.Login.Brand(v.ctx(), v.param("client"))
	if brandErr != nil {
		return answer{}, err
	}
	if againErr == nil {
		brand = again.Client // knows where people are sent on to
	}
	m := pages.Problem{Shell: s.loginShell(v, brand), Status: problem.Status, Text: problem.Detail, Back: again.Back, RequestID: problem.RequestID}
	m.Shell.Trial = again.Trial
	return answer{status: problem.Status, page: pages.ProblemPage(m)}, nil
}

// withCause says beside what people read why it is so, for whoever tries the login
// out and can mend it. Causes hold no tokens (login/providers).
func withCause(text string, err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Unwrap() == nil {
		return text
	}
	return text + " You see this because you test: " + f.Unwrap().Error() + "."
}

// logLogin keeps why a login failed, which whoever runs the application asks for
// with the request's id. Causes hold no tokens (login/providers).
func (s *Server) logLogin(v *visit, err error) {
	s.Log.Info("a login failed", "request", requestID(v.ctx()), "client", v.param("client"), "error", err)
}

func (s *Server) logout(v *visit) (answer, error) {
	values := v.c.Request.URL.Query()
	if v.c.Request.Method == http.MethodPost {
		values = v.c.Request.PostForm
	}
	asked := readOnce(values)
	out, err := s.Login.Logout(v.ctx(), login.LogoutInput{ClientID: v.param("client"), Hint: asked.get("id_token_hint"),
		To: asked.get("post_logout_redirect_uri"), State: asked.get("state")})
	if err != nil {
		return s.loginFailed(v, err, "")
	}
	if out.Back != "" && !out.Client.Unclaimed {
		return goTo(out.Back), nil
	}
	shell := s.loginShell(v, out.Client)
	if !out.Ended {
		shell.Title = "Sign out"
		return show(pages.NotSignedOutPage(shell)), nil
	}
	shell.Title = "Signed out"
	return show(pages.SignedOutPage(shell, out.Back)), nil
}

// brandStyle is the client's colour as a style sheet, since the pages' policy takes
// no style that stands in the page itself.
func (s *Server) brandStyle(v *visit) (answer, error) {
	brand, err := s.Login.Brand(v.ctx(), v.param("client"))
	if err != nil || brand.Color == "" {
		return answer{}, orNotFound(err)
	}
	writeBrand(v, brand.Color)
	return answer{}, nil
}

// writeBrand answers with a colour that was checked, and the ink to read on it.
func writeBrand(v *visit, color string) {
	v.c.Header("Content-Type", "text/css; charset=utf-8")
	v.c.Header("Cache-Control", "private, max-age=60")
	v.c.Status(http.StatusOK)
	_, _ = fmt.Fprintf(v.c.Writer, ":root{--brand:%s;--brand-ink:%s}\n", color, inkOn(color)) // the caller is gone when this fails
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return notFound()
}

// inkOn is black or white, whichever can be read better on a colour: the contrast
// of WCAG 2.2 is equal where the luminance is 0.179.
func inkOn(color string) string {
	luminance := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		part, err := strconv.ParseUint(color[1+2*i:3+2*i], 16, 8)
		if err != nil {
			return "#ffffff"
		}
		luminance += weight * linear(float64(part)/255)
	}
	if luminance > 0.179 {
		return "#000000"
	}
	return "#ffffff"
}

// linear takes the gamma of sRGB away (IEC 61966-2-1).
func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}
