package oidc

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/login"
	pages "postern/views/login"
)

var errOtherClient = fault.New(fault.Malformed, "invalid_request",
	"The application used the client ID of a different application. Contact the application's support team.").
	Worded("other_client")

// authorize begins a login (OpenID Connect Core 3.1.2.1) and shows the providers.
func (h *Handler) authorize(c *gin.Context) (web.Answer, error) {
	values := c.Request.URL.Query()
	if c.Request.Method == http.MethodPost {
		values = c.Request.PostForm
	}
	asked := web.ParseOAuthParams(values)
	client, browser := c.Param("client"), login.NewBrowser()
	if asked.Get("client_id") != client {
		return h.loginFailed(c, errOtherClient, "")
	}
	if err := h.Web.Throttle.AdmitLogin(client, c.Request.RemoteAddr); err != nil {
		return h.loginFailed(c, err, "")
	}
	begun, err := h.Login.Authorize(c.Request.Context(), login.AuthorizationRequest{
		ClientID:        client,
		RedirectURI:     asked.Get("redirect_uri"),
		ResponseType:    asked.Get("response_type"),
		ResponseMode:    asked.Get("response_mode"),
		Scope:           asked.Get("scope"),
		State:           asked.Get("state"),
		Nonce:           asked.Get("nonce"),
		Challenge:       asked.Get("code_challenge"),
		ChallengeMethod: asked.Get("code_challenge_method"),
		Prompt:          asked.Get("prompt"),
		MaxAge:          asked.Get("max_age"),
		Hint:            asked.Get("id_token_hint"),
		Cookie:          h.Web.Cookie(c.Request, web.HostedCookie(client)),
		UserAgent:       c.Request.UserAgent(),
		ACRValues:       asked.Get("acr_values"),
		LoginHint:       asked.Get("login_hint"),
		UILocales:       asked.Get("ui_locales"),
		Resources:       asked.Resources(),
		Request:         asked.Get("request") + asked.Get("request_uri"),
		Repeated:        asked.Repeated,
	}, browser)
	if err != nil {
		return h.loginFailed(c, err, "")
	}
	if begun.Refused != "" {
		return h.refusedPage(c, begun.Client, begun.Refused, begun.Back), nil
	}
	if begun.Back.URL != "" {
		return h.sendBack(c, begun.Back)
	}
	h.Web.KeepLogin(c.Writer, c.Request, begun.ID, browser)
	if begun.Direct != "" {
		return h.toProvider(c, begun.ID, begun.Direct, browser)
	}
	return h.choose(c, begun, http.StatusOK, ""), nil
}

// refusedPage explains an error before the browser goes back to an unclaimed application.
func (h *Handler) refusedPage(c *gin.Context, client login.Look, text string, back login.Back) web.Answer {
	m := pages.Problem{
		Shell:     h.loginShell(c, client),
		Status:    http.StatusBadRequest,
		Text:      text,
		Back:      returnTarget(c, back),
		RequestID: web.RequestID(c.Request.Context()),
	}
	return web.Answer{Status: m.Status, Page: pages.ProblemPage(m)}
}

func (h *Handler) choose(c *gin.Context, attempt login.Attempt, status int, complaint string) web.Answer {
	m := pages.Choose{Shell: h.loginShell(c, attempt.Client), Error: complaint, Back: returnTarget(c, attempt.Back)}
	m.Shell.TestLogin = attempt.TestLogin
	for _, option := range attempt.Providers {
		if len(option.SignInDomains) > 0 && !m.AsksAddress {
			m.AsksAddress = true
			m.AddressURL = "/oauth/" + url.PathEscape(c.Param("client")) + "/login/" + attempt.ID
			m.Address = c.Request.PostForm.Get("email")
			// The answer to the form redirects to a provider, which may send the browser on to the application at once,
			// and form-action applies to redirects too. Only the provider's discovery document has the address of its
			// page.
			web.AllowSource(c.Writer.Header(), "form-action 'self'",
				"https: http://127.0.0.1:* http://localhost:* "+formTarget(attempt.Site))
		}
		m.Providers = append(m.Providers, pages.Provider{Type: option.Type, Label: option.Label,
			URL: "/oauth/" + url.PathEscape(c.Param("client")) + "/login/" + attempt.ID + "/" + option.ID})
	}
	return web.Answer{Status: status, Page: pages.ChoosePage(m)}
}

// loginShell returns the frame of a page with the client's branding, and allows the
// client's logo in the page's policy.
func (h *Handler) loginShell(c *gin.Context, brand login.Look) pages.Shell {
	words := h.words(c, brand.Locales)
	shell := pages.Shell{
		Title:     words.T("sign_in"),
		Words:     words,
		App:       brand.Title,
		Welcome:   brand.Welcome,
		LogoURL:   brand.LogoURL,
		Theme:     h.Web.Theme(c.Request),
		Unclaimed: brand.Unclaimed,
		Site:      brand.Site,
	}
	if brand.Title != "" && !brand.Unclaimed {
		shell.Title = words.T("sign_in_to", "app", brand.Title)
	}
	if brand.Color != "" {
		shell.Brand = "/oauth/" + url.PathEscape(c.Param("client")) + "/brand.css"
	}
	if u, err := url.Parse(brand.LogoURL); err == nil && u.Host != "" {
		web.AllowSource(c.Writer.Header(), "img-src 'self' data:", u.Scheme+"://"+u.Host)
	}
	c.Header("Referrer-Policy", "no-referrer")
	return shell
}

// words returns the language of a page: that of the request which began the login, or else
// that of this request.
func (h *Handler) words(c *gin.Context, locales string) *pages.Words {
	languages := h.Languages
	if languages == nil {
		languages = pages.Builtin()
	}
	c.Writer.Header().Add("Vary", "Accept-Language")
	return languages.Match(cmp.Or(locales, c.Query("ui_locales")), c.GetHeader("Accept-Language"))
}

// resumeLogin shows the providers of a login that this browser has begun.
func (h *Handler) resumeLogin(c *gin.Context) (web.Answer, error) {
	attempt := c.Param("attempt")
	begun, err := h.Login.Resume(
		c.Request.Context(), c.Param("client"), attempt, h.Web.LoginSecret(c.Request, attempt),
	)
	if err != nil {
		return h.loginFailed(c, err, attempt)
	}
	if len(begun.Providers) == 0 {
		return h.sendBack(c, begun.Back)
	}
	begun.Back = login.Back{}
	return h.choose(c, begun, http.StatusOK, ""), nil
}

func (h *Handler) chooseProvider(c *gin.Context) (web.Answer, error) {
	attempt := c.Param("attempt")
	return h.toProvider(c, attempt, c.Param("provider"), h.Web.LoginSecret(c.Request, attempt))
}

// chooseByAddress sends the browser to the provider that the domain of an email address
// leads to.
func (h *Handler) chooseByAddress(c *gin.Context) (web.Answer, error) {
	attempt := c.Param("attempt")
	browser := h.Web.LoginSecret(c.Request, attempt)
	if err := h.Web.Throttle.AdmitLogin(c.Param("client"), c.Request.RemoteAddr); err != nil {
		return h.loginFailedIn(c, err, attempt, browser)
	}
	provider, err := h.Login.ChooseByAddress(
		c.Request.Context(), c.Param("client"), attempt, c.Request.PostForm.Get("email"), browser,
	)
	if err != nil {
		return h.loginFailedIn(c, err, attempt, browser)
	}
	return h.toProvider(c, attempt, provider, browser)
}

// toProvider sends the browser to a provider.
func (h *Handler) toProvider(c *gin.Context, attempt, provider, browser string) (web.Answer, error) {
	to, err := h.Login.Choose(c.Request.Context(), c.Param("client"), attempt, provider, browser)
	if err != nil {
		return h.loginFailedIn(c, err, attempt, browser)
	}
	return web.Redirect(to), nil
}

func (h *Handler) loginCallback(c *gin.Context) (web.Answer, error) {
	arrived, attempt, err := h.takeCallback(c)
	answer, err := h.afterCallback(c, arrived, attempt, err)
	if err == nil && answer.To != "" && arrived.AddsFragment {
		// Browsers keep the fragment of our address on the way to the application. An empty one replaces it (Fetch
		// Standard, 4.4, HTTP-redirect fetch).
		answer.To += "#"
	}
	return answer, err
}

// takeCallback processes a provider's answer, and returns the id of the attempt that it names.
func (h *Handler) takeCallback(c *gin.Context) (login.Outcome, string, error) {
	got := web.ParseOAuthParams(c.Request.URL.Query())
	attempt, _, _ := strings.Cut(got.Get("state"), ".")
	arrived, err := h.Login.HandleCallback(c.Request.Context(), login.AuthorizationResponse{
		Client:   c.Param("client"),
		Provider: c.Param("provider"),
		State:    got.Get("state"),
		Code:     got.Get("code"),
		Issuer:   got.Get("iss"),
		Error:    got.Get("error"),
		Cookie:   h.Web.Cookie(c.Request, web.HostedCookie(c.Param("client"))),
		Repeated: got.Repeated,
	}, h.Web.LoginSecret(c.Request, attempt))
	return arrived, attempt, err
}

// afterCallback redirects to the step after a provider's answer, or shows why the answer was refused.
func (h *Handler) afterCallback(c *gin.Context, arrived login.Outcome, attempt string, err error) (web.Answer, error) {
	if err != nil {
		return h.loginFailed(c, err, attempt)
	}
	if arrived.Refused != "" {
		return h.refusedPage(c, arrived.Client, arrived.Refused, arrived.Back), nil
	}
	if arrived.Again != "" {
		return web.Redirect(arrived.Again), nil
	}
	if arrived.Back.URL != "" {
		return h.finished(c, arrived.Finished)
	}
	m := pages.Consent{
		Shell:    h.loginShell(c, arrived.Client),
		Action:   "/oauth/" + url.PathEscape(c.Param("client")) + "/consent",
		Attempt:  arrived.Attempt,
		Ticket:   arrived.Ticket.Reveal(),
		Name:     arrived.Name,
		Email:    arrived.Email,
		Provider: arrived.Label,
		Site:     arrived.Site,
		Again:    arrived.Before != "",
	}
	m.Shell.TestLogin = arrived.TestLogin
	for _, one := range arrived.Shares {
		m.Shares = append(m.Shares, pages.Share(one))
	}
	// The answer to this form redirects to the client's site, and form-action applies to
	// redirects too.
	web.AllowSource(c.Writer.Header(), "form-action 'self'", formTarget(arrived.Site))
	return web.Show(pages.ConsentPage(m)), nil
}

// formTarget returns the source expression of an origin (CSP Level 3, 2.3.1), or an empty one
// for an IPv6 address.
func formTarget(origin string) string {
	if strings.HasPrefix(origin, "http://[") {
		return "http:"
	}
	return origin
}

func (h *Handler) consent(c *gin.Context) (web.Answer, error) {
	attempt := c.Request.PostForm.Get("attempt")
	browser := h.Web.LoginSecret(c.Request, attempt)
	var to login.Finished
	var err error
	if c.Request.PostForm.Get("answer") == "agree" {
		to, err = h.Login.GrantConsent(
			c.Request.Context(), c.Param("client"), attempt, c.Request.PostForm.Get("ticket"), browser,
		)
	} else {
		to.Back, err = h.Login.DenyConsent(c.Request.Context(), c.Param("client"), attempt, browser)
	}
	if err != nil {
		return h.loginFailed(c, err, attempt)
	}
	return h.finished(c, to)
}

// loginFailed shows why a login failed, in the client's branding. If the login can
// continue in this browser, the page offers the providers again, or the way back to the
// application.
func (h *Handler) loginFailed(c *gin.Context, err error, attempt string) (web.Answer, error) {
	return h.loginFailedIn(c, err, attempt, h.Web.LoginSecret(c.Request, attempt))
}

// loginFailedIn is loginFailed in a browser that may have got its cookie with this answer.
func (h *Handler) loginFailedIn(c *gin.Context, err error, attempt, browser string) (web.Answer, error) {
	known := fault.KindOf(err)
	if known == fault.Internal {
		return web.Answer{}, err
	}
	cookie := h.Web.Cookie(c.Request, web.HostedCookie(c.Param("client")))
	back, ok, backErr := h.Login.Continue(c.Request.Context(), c.Param("client"), attempt, browser, cookie)
	if backErr != nil {
		return web.Answer{}, backErr
	}
	if ok {
		return h.sendBack(c, back)
	}
	h.logLogin(c, err)
	web.SetRetryAfter(c.Writer.Header(), err)
	problem := web.ProblemOf(err, web.RequestID(c.Request.Context()))
	again, againErr := h.Login.Resume(c.Request.Context(), c.Param("client"), attempt, browser)
	if againErr == nil && again.TestLogin {
		problem.Detail = withCause(problem.Detail, err)
	} else {
		problem.Detail = textOf(h.words(c, again.Client.Locales), err, problem.Detail)
	}
	if againErr == nil && len(again.Providers) > 0 {
		return h.choose(c, again, problem.Status, problem.Detail), nil
	}
	brand, brandErr := h.Login.Brand(c.Request.Context(), c.Param("client"))
	if brandErr != nil {
		return web.Answer{}, err
	}
	if againErr == nil {
		brand = again.Client // which has the site of the redirect URI
	}
	m := pages.Problem{
		Shell:     h.loginShell(c, brand),
		Status:    problem.Status,
		Text:      problem.Detail,
		Back:      returnTarget(c, again.Back),
		RequestID: problem.RequestID,
	}
	m.Shell.TestLogin = again.TestLogin
	return web.Answer{Status: problem.Status, Page: pages.ProblemPage(m)}, nil
}

// textOf returns the text of an error in the language of a page, inEnglish where the language doesn't have it.
func textOf(words *pages.Words, err error, inEnglish string) string {
	known, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return inEnglish
	}
	return words.Error(cmp.Or(known.Text.Key, known.Code), inEnglish, known.Text.Values...)
}

// withCause adds the cause to the text of a test login, for the operator of the
// application. Causes hold no tokens (service/login/providers).
func withCause(text string, err error) string {
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Unwrap() == nil {
		return text
	}
	return text + " Cause, shown because this is a test login: " + f.Unwrap().Error() + "."
}

// logLogin logs why a login failed, for operators who have the request's id. Causes hold
// no tokens (service/login/providers).
func (h *Handler) logLogin(c *gin.Context, err error) {
	h.Web.Log.InfoContext(c.Request.Context(), "a login failed",
		"request", web.RequestID(c.Request.Context()),
		"client", c.Param("client"),
		"error", err,
	)
}

// brandStyle serves the client's color as a style sheet: the pages' policy forbids inline
// styles.
func (h *Handler) brandStyle(c *gin.Context) (web.Answer, error) {
	brand, err := h.Login.Brand(c.Request.Context(), c.Param("client"))
	if err != nil || brand.Color == "" {
		return web.Answer{}, orNotFound(err)
	}
	web.WriteBrandCSS(c.Writer, brand.Color)
	return web.Answer{}, nil
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return web.NotFound()
}
