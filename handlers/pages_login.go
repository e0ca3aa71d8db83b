package handlers

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/platform/fault"
	"postern/service/login"
	pages "postern/views/login"
)

func (s *Server) authorize(c *gin.Context) (answer, error) {
	values := c.Request.URL.Query()
	if c.Request.Method == http.MethodPost {
		values = c.Request.PostForm
	}
	asked := readOnce(values)
	client, browser := c.Param("client"), s.cookie(c.Request, loginCookie)
	if asked.get("client_id") != client {
		return s.loginFailed(c, fault.New(fault.Malformed, "invalid_request", "The application asked in another one's name. Tell whoever runs it."), "")
	}
	if err := s.oauthTries.begin(client, c.Request.RemoteAddr); err != nil {
		return s.loginFailed(c, err, "")
	}
	if browser == "" {
		browser = login.NewBrowser()
	}
	begun, err := s.Login.Begin(c.Request.Context(), login.AuthorizeInput{ClientID: client, RedirectURI: asked.get("redirect_uri"), ResponseType: asked.get("response_type"),
		ResponseMode: asked.get("response_mode"), Scope: asked.get("scope"), State: asked.get("state"), Nonce: asked.get("nonce"),
		Challenge: asked.get("code_challenge"), ChallengeMethod: asked.get("code_challenge_method"), Prompt: asked.get("prompt"), MaxAge: asked.get("max_age"),
		Request: asked.get("request") + asked.get("request_uri"), Repeated: asked.repeated}, browser)
	if err != nil {
		return s.loginFailed(c, err, "")
	}
	if begun.Refused != "" {
		m := pages.Problem{Shell: s.loginShell(c, begun.Client), Status: http.StatusBadRequest, Text: begun.Refused, Back: begun.Back, RequestID: requestID(c.Request.Context())}
		return answer{status: m.Status, page: pages.ProblemPage(m)}, nil
	}
	if begun.Back != "" {
		return goTo(begun.Back), nil
	}
	s.setCookie(c.Writer, loginCookie, browser, loginTTL)
	return s.choose(c, begun, http.StatusOK, ""), nil
}

func (s *Server) choose(c *gin.Context, begun login.Begun, status int, complaint string) answer {
	m := pages.Choose{Shell: s.loginShell(c, begun.Client), Error: complaint, Back: begun.Back}
	m.Shell.Trial = begun.Trial
	for _, offer := range begun.Offers {
		m.Offers = append(m.Offers, pages.Offer{Type: offer.Type, Label: offer.Label,
			URL: "/oauth/" + url.PathEscape(c.Param("client")) + "/login/" + begun.Attempt + "/" + offer.ID})
	}
	return answer{status: status, page: pages.ChoosePage(m)}
}

// loginShell dresses a page in the client's colours, and opens the page's policy
// for the client's logo.
func (s *Server) loginShell(c *gin.Context, brand login.Look) pages.Shell {
	shell := pages.Shell{Title: "Sign in", App: brand.Title, Welcome: brand.Welcome, LogoURL: brand.LogoURL, Theme: s.theme(c.Request),
		Unclaimed: brand.Unclaimed, Site: brand.Site}
	if brand.Title != "" && !brand.Unclaimed {
		shell.Title = "Sign in to " + brand.Title
	}
	if brand.Color != "" {
		shell.Brand = "/oauth/" + url.PathEscape(c.Param("client")) + "/brand.css"
	}
	if u, err := url.Parse(brand.LogoURL); err == nil && u.Host != "" {
		widenPolicy(c.Writer.Header(), "img-src 'self' data:", u.Scheme+"://"+u.Host)
	}
	c.Header("Referrer-Policy", "no-referrer")
	return shell
}

// resumeLogin shows the providers of a login that is under way in this browser.
func (s *Server) resumeLogin(c *gin.Context) (answer, error) {
	begun, err := s.Login.Resume(c.Request.Context(), c.Param("client"), c.Param("attempt"), s.cookie(c.Request, loginCookie))
	if err != nil {
		return s.loginFailed(c, err, "")
	}
	if len(begun.Offers) == 0 {
		return goTo(begun.Back), nil
	}
	begun.Back = ""
	return s.choose(c, begun, http.StatusOK, ""), nil
}

func (s *Server) chooseProvider(c *gin.Context) (answer, error) {
	to, err := s.Login.Choose(c.Request.Context(), c.Param("client"), c.Param("attempt"), c.Param("provider"), s.cookie(c.Request, loginCookie))
	if err != nil {
		return s.loginFailed(c, err, c.Param("attempt"))
	}
	return goTo(to), nil
}

func (s *Server) loginCallback(c *gin.Context) (answer, error) {
	got := readOnce(c.Request.URL.Query())
	attempt, _, _ := strings.Cut(got.get("state"), ".")
	arrived, err := s.Login.Answer(c.Request.Context(), login.CallbackInput{Client: c.Param("client"), Provider: c.Param("provider"), State: got.get("state"),
		Code: got.get("code"), Issuer: got.get("iss"), Error: got.get("error"), Repeated: got.repeated}, s.cookie(c.Request, loginCookie))
	if err != nil {
		return s.loginFailed(c, err, attempt)
	}
	if arrived.Back != "" {
		return goTo(arrived.Back), nil
	}
	m := pages.Consent{Shell: s.loginShell(c, arrived.Client), Action: "/oauth/" + url.PathEscape(c.Param("client")) + "/consent", Attempt: arrived.Attempt,
		Ticket: arrived.Ticket.Reveal(), Name: arrived.Person.Name, Email: arrived.Person.Email, Provider: arrived.Label, Site: arrived.Site, Again: arrived.Before != ""}
	m.Shell.Trial = arrived.Trial
	for _, one := range arrived.Shares {
		m.Shares = append(m.Shares, pages.Share(one))
	}
	// The answer to this form leads to the client's site, which browsers count as
	// a place that the form leads to.
	widenPolicy(c.Writer.Header(), "form-action 'self'", arrived.Site)
	return show(pages.ConsentPage(m)), nil
}

func (s *Server) consent(c *gin.Context) (answer, error) {
	browser, attempt := s.cookie(c.Request, loginCookie), c.Request.PostForm.Get("attempt")
	var to string
	var err error
	if c.Request.PostForm.Get("answer") == "agree" {
		to, err = s.Login.Agree(c.Request.Context(), c.Param("client"), attempt, c.Request.PostForm.Get("ticket"), browser)
	} else {
		to, err = s.Login.Decline(c.Request.Context(), c.Param("client"), attempt, browser)
	}
	if err != nil {
		return s.loginFailed(c, err, attempt)
	}
	return goTo(to), nil
}

// loginFailed says on a page of the client's why somebody is not signed in. Where
// the login is still under way in this browser, it offers the providers once more,
// or the way back to the application.
func (s *Server) loginFailed(c *gin.Context, err error, attempt string) (answer, error) {
	known := fault.KindOf(err)
	if known == fault.Internal {
		return answer{}, err
	}
	s.logLogin(c, err)
	setRetryAfter(c.Writer.Header(), err)
	problem := problemOf(err, requestID(c.Request.Context()))
	again, againErr := s.Login.Resume(c.Request.Context(), c.Param("client"), attempt, s.cookie(c.Request, loginCookie))
	if againErr == nil && again.Trial {
		problem.Detail = withCause(problem.Detail, err)
	}
	if againErr == nil && len(again.Offers) > 0 {
		return s.choose(c, again, problem.Status, problem.Detail), nil
	}
	brand, brandErr := s.Login.Brand(c.Request.Context(), c.Param("client"))
	if brandErr != nil {
		return answer{}, err
	}
	if againErr == nil {
		brand = again.Client // knows where people are sent on to
	}
	m := pages.Problem{Shell: s.loginShell(c, brand), Status: problem.Status, Text: problem.Detail, Back: again.Back, RequestID: problem.RequestID}
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
func (s *Server) logLogin(c *gin.Context, err error) {
	s.Log.Info("a login failed", "request", requestID(c.Request.Context()), "client", c.Param("client"), "error", err)
}

func (s *Server) logout(c *gin.Context) (answer, error) {
	values := c.Request.URL.Query()
	if c.Request.Method == http.MethodPost {
		values = c.Request.PostForm
	}
	asked := readOnce(values)
	out, err := s.Login.Logout(c.Request.Context(), login.LogoutInput{ClientID: c.Param("client"), Hint: asked.get("id_token_hint"),
		To: asked.get("post_logout_redirect_uri"), State: asked.get("state")})
	if err != nil {
		return s.loginFailed(c, err, "")
	}
	if out.Back != "" && !out.Client.Unclaimed {
		return goTo(out.Back), nil
	}
	shell := s.loginShell(c, out.Client)
	if !out.Ended {
		shell.Title = "Sign out"
		return show(pages.NotSignedOutPage(shell)), nil
	}
	shell.Title = "Signed out"
	return show(pages.SignedOutPage(shell, out.Back)), nil
}

// brandStyle is the client's colour as a style sheet, since the pages' policy takes
// no style that stands in the page itself.
func (s *Server) brandStyle(c *gin.Context) (answer, error) {
	brand, err := s.Login.Brand(c.Request.Context(), c.Param("client"))
	if err != nil || brand.Color == "" {
		return answer{}, orNotFound(err)
	}
	writeBrand(c.Writer, brand.Color)
	return answer{}, nil
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return notFound()
}
