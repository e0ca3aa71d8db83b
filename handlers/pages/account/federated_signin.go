package account

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/dustin/go-humanize/english"

	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/accounts/federated"
	"postern/views/account"
	"postern/views/signin"
	"postern/views/ui"
)

func (h *Handler) federatedProviders() []signin.Provider {
	var list []signin.Provider
	for _, p := range h.Providers {
		list = append(list, signin.Provider{ID: p.ID(), Name: p.Name()})
	}
	return list
}

func (h *Handler) provider(id string) (federated.Provider, error) {
	for _, p := range h.Providers {
		if p.ID() == id {
			return p, nil
		}
	}
	return nil, web.NotFound()
}

func (h *Handler) startFederated(v *page.Visit) (web.Answer, error) {
	next := web.LocalPath(v.Posted("next"))
	page, err := h.redirectToProvider(v, access.Principal{}, next)
	if err != nil {
		return h.signInWithError(v, next, err)
	}
	return page, nil
}

// beginLink lets the signed-in account add a way to sign in. It is a form and not a link:
// a link on another site could tie a visitor's account to the attacker's identity.
func (h *Handler) beginLink(v *page.Visit) (web.Answer, error) {
	page, err := h.redirectToProvider(v, v.Who, "/account/signins")
	if err != nil {
		return h.linkedWithError(v, err)
	}
	return page, nil
}

// redirectToProvider sends the browser to the provider by a page and not by a redirect, which
// form-action of the content security policy would block.
func (h *Handler) redirectToProvider(v *page.Visit, p access.Principal, next string) (web.Answer, error) {
	idp, err := h.provider(v.Param("provider"))
	if err != nil {
		return web.Answer{}, err
	}
	browser := h.Web.Cookie(v.Gin.Request, web.BrowserCookie)
	if len(browser) < len(accounts.NewBrowserSecret()) {
		browser = accounts.NewBrowserSecret()
	}
	attempt, err := h.Accounts.BeginFederated(v.Ctx(), p, idp.ID(), browser, from(v))
	if err != nil {
		return web.Answer{}, err
	}
	attempt.RedirectURL = h.callback(idp)
	to, err := idp.AuthorizeURL(v.Ctx(), attempt)
	if err != nil {
		return web.Answer{}, err
	}
	h.Web.SetCookie(v.Gin.Writer, web.BrowserCookie, browser, accounts.FederatedTTL)
	h.Web.SetCookie(v.Gin.Writer, web.NextCookie, url.QueryEscape(next), accounts.FederatedTTL)
	v.Gin.Header("Refresh", "0; url="+to)
	return web.Show(signin.LeavePage(signin.Leave{
		Page: v.Shell("Going to "+idp.Name(), "/signin"),
		Name: idp.Name(),
		URL:  to,
	})), nil
}

// callback returns the provider's callback URL. Each provider has its own, so that the
// response of one cannot be taken for another's (RFC 9700, section 4.4).
func (h *Handler) callback(p federated.Provider) string {
	return h.Web.Config.PublicURL + "/signin/" + p.ID() + "/callback"
}

func (h *Handler) federatedCallback(v *page.Visit) (web.Answer, error) {
	idp, err := h.provider(v.Param("provider"))
	if err != nil {
		return web.Answer{}, err
	}
	query, browser := v.Gin.Request.URL.Query(), h.Web.Cookie(v.Gin.Request, web.BrowserCookie)
	next, err := url.QueryUnescape(h.Web.Cookie(v.Gin.Request, web.NextCookie))
	if next = web.LocalPath(next); err != nil {
		next = ""
	}
	attempt, linkTo, err := h.Accounts.FinishFederated(v.Ctx(), idp.ID(), query.Get("state"), browser)
	if err != nil {
		return h.signInWithError(v, next, err)
	}
	attempt.RedirectURL = h.callback(idp)
	if linkTo != "" {
		return h.link(v, idp, attempt, linkTo)
	}
	identity, err := idp.Complete(v.Ctx(), attempt, query)
	if err != nil {
		return h.signInWithError(v, next, err)
	}
	ticket := ticketIn(next)
	session, err := h.Accounts.SignInFederated(v.Ctx(), identity, ticket, browser, from(v))
	if err != nil {
		return h.signInWithError(v, next, err)
	}
	h.Web.SetCookie(v.Gin.Writer, web.NextCookie, "", 0)
	if ticket.Invitation != "" {
		if _, err := h.Accounts.PreviewInvitation(v.Ctx(), ticket.Invitation); err != nil {
			next = "" // the new account has used it up
		}
	}
	return redirectAfterSignIn(next), h.beginSession(v, session)
}

// federatedCallbackByPost redirects an answer that a provider sent by POST to federatedCallback.
func (h *Handler) federatedCallbackByPost(v *page.Visit) (web.Answer, error) {
	if _, err := h.provider(v.Param("provider")); err != nil {
		return web.Answer{}, err
	}
	to, err := web.CallbackByPost(v.Gin.Request)
	if err != nil {
		return h.signInWithError(v, "", err)
	}
	return web.Redirect(to), nil
}

// link adds a way to sign in to the account that started linking, if that account is still
// signed in in this browser.
func (h *Handler) link(
	v *page.Visit, idp federated.Provider, attempt federation.Attempt, linkTo string,
) (web.Answer, error) {
	signedIn, err := v.Authenticate()
	if err != nil {
		return web.Answer{}, err
	}
	if !signedIn || v.Who.Account != linkTo {
		return h.signInWithError(v, "/account/signins", fault.New(
			fault.Unauthenticated, "sign_in_failed",
			"You signed out or switched accounts before the provider was linked. Sign in and try again.",
		))
	}
	identity, err := idp.Complete(v.Ctx(), attempt, v.Gin.Request.URL.Query())
	if err == nil {
		err = h.Accounts.Link(v.Ctx(), v.Who, identity)
	}
	if err != nil {
		return h.linkedWithError(v, err)
	}
	if err := h.rotateSession(v); err != nil {
		return web.Answer{}, err
	}
	return v.Done("linked", "/account/signins")
}

// shownProblem returns an error that the page itself can show.
func (h *Handler) shownProblem(v *page.Visit, err error) (*web.Problem, error) {
	switch fault.KindOf(err) {
	case fault.Internal, fault.NotFound:
		return nil, err
	}
	if cause := errors.Unwrap(err); cause != nil {
		h.Web.Log.InfoContext(v.Ctx(), "a federated sign-in failed", "request", web.RequestID(v.Ctx()), "error", err)
	}
	problem := web.ProblemOf(err, "")
	if problem.Status == http.StatusUnauthorized {
		v.Gin.Header("WWW-Authenticate", web.BearerChallenge) // RFC 9110, 15.5.2: no 401 without one
	}
	return problem, nil
}

func (h *Handler) signInWithError(v *page.Visit, next string, err error) (web.Answer, error) {
	problem, err := h.shownProblem(v, err)
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.signInForm(v, next)
	m.Error = problem.Detail
	return web.Answer{Status: problem.Status, Page: signin.SignInPage(m)}, err
}

func (h *Handler) linkedWithError(v *page.Visit, err error) (web.Answer, error) {
	problem, err := h.shownProblem(v, err)
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.linkedPage(v)
	m.Error = problem.Detail
	return web.Answer{Status: problem.Status, Page: account.LinkedPage(m)}, err
}

func (h *Handler) showLinked(v *page.Visit) (web.Answer, error) {
	m, err := h.linkedPage(v)
	return web.Show(account.LinkedPage(m)), err
}

func (h *Handler) linkedPage(v *page.Visit) (account.Linked, error) {
	ways, err := h.Accounts.SignInMethods(v.Ctx(), v.Who)
	m := account.Linked{Page: v.Shell("Linked sign-ins", "/account/signins"), Password: ways.Password}
	linked := map[string]bool{}
	for _, identity := range ways.Identities {
		linked[identity.Issuer] = true
		m.Links = append(m.Links, account.Link{
			ID:           identity.ID,
			Name:         h.issuerName(identity.Issuer),
			UnlinkAction: "/account/signins/" + url.PathEscape(identity.ID) + "/unlink",
			Email:        identity.Email,
			Seen:         identity.SeenAt,
		})
	}
	for _, p := range h.Providers {
		if !linked[p.Issuer()] {
			m.Offers = append(m.Offers, account.Offer{Name: p.Name(), Action: "/account/signins/link/" + p.ID()})
		}
	}
	return m, err
}

// issuerName returns the text of the button, or the issuer itself if it is no longer configured.
func (h *Handler) issuerName(issuer string) string {
	for _, p := range h.Providers {
		if p.Issuer() == issuer {
			return p.Name()
		}
	}
	return issuer
}

func (h *Handler) unlink(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askUnlink(v)
	}
	if err := h.Accounts.Unlink(v.Ctx(), v.Who, v.Param("identity")); err != nil {
		return h.linkedWithError(v, err)
	}
	if err := h.rotateSession(v); err != nil {
		return web.Answer{}, err
	}
	return v.Done("unlinked", "/account/signins")
}

// askUnlink asks before an identity can no longer sign in to the account.
func (h *Handler) askUnlink(v *page.Visit) (web.Answer, error) {
	ways, err := h.Accounts.SignInMethods(v.Ctx(), v.Who)
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(ways.Identities, func(one accounts.Identity) bool { return one.ID == v.Param("identity") })
	if i < 0 {
		return web.Answer{}, access.NotFound()
	}
	one := ways.Identities[i]
	name := h.issuerName(one.Issuer)
	var stays []string
	if ways.Password {
		stays = []string{"your password"}
	}
	if others := int64(len(ways.Identities) - 1); others > 0 {
		stays = append(stays, page.CountText(others, "other linked sign-in"))
	}
	if len(stays) == 0 {
		return h.linkedWithError(v, accounts.LastSignIn())
	}
	return v.AskConfirmation(ui.ConfirmationView{
		Page:  v.Shell("Unlink "+name, "/account/signins"),
		Title: "Unlink " + name,
		Facts: []ui.Fact{
			{Label: "Email", Value: cmp.Or(one.Email, "none")},
			{Label: "Last used", Time: one.SeenAt},
			{Label: "You can still sign in with", Value: english.WordSeries(stays, "and")},
		},
		Confirm: ui.Confirmation{
			Verb:     "Unlink",
			Kind:     name,
			Impact:   []string{"You won't be able to sign in with it anymore. Current sessions will keep working."},
			Undo:     "You can link it again.",
			ByButton: true,
		},
		BackURL: "/account/signins",
	})
}
