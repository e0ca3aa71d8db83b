package handlers

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/dustin/go-humanize"

	"postern/platform/fault"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/accounts/provider"
	"postern/views/account"
	"postern/views/signin"
)

func (s *Server) elsewhere() []signin.Provider {
	var list []signin.Provider
	for _, p := range s.Providers {
		list = append(list, signin.Provider{ID: p.ID(), Name: p.Name()})
	}
	return list
}

func (s *Server) provider(id string) (provider.Provider, error) {
	for _, p := range s.Providers {
		if p.ID() == id {
			return p, nil
		}
	}
	return nil, notFound()
}

func (s *Server) beginElsewhere(v *visit) (answer, error) {
	next := localPath(v.posted("next"))
	away, err := s.depart(v, access.Principal{}, next)
	if err != nil {
		return s.backAtSignIn(v, next, err)
	}
	return away, nil
}

// beginLink lets the account that is signed in add a way to sign in. It is a form
// of our own pages: a link that anybody could place would tie whoever follows it
// to somebody else's sign-in.
func (s *Server) beginLink(v *visit) (answer, error) {
	away, err := s.depart(v, v.who, "/account/signins")
	if err != nil {
		return s.backAtLinked(v, err)
	}
	return away, nil
}

// depart sends the browser away, by the page itself: form-action of the content
// security policy also judges where a form's answer redirects to.
func (s *Server) depart(v *visit, p access.Principal, next string) (answer, error) {
	with, err := s.provider(v.param("provider"))
	if err != nil {
		return answer{}, err
	}
	browser := s.cookie(v.c.Request, browserCookie)
	if len(browser) < len(accounts.NewBrowserSecret()) {
		browser = accounts.NewBrowserSecret()
	}
	trip, err := s.Accounts.Depart(v.ctx(), p, with.ID(), browser, v.from())
	if err != nil {
		return answer{}, err
	}
	trip.Callback = s.callback(with)
	to, err := with.AuthorizeURL(v.ctx(), trip)
	if err != nil {
		return answer{}, err
	}
	s.setCookie(v.c.Writer, browserCookie, browser, accounts.TripTTL)
	s.setCookie(v.c.Writer, nextCookie, url.QueryEscape(next), accounts.TripTTL)
	v.c.Header("Refresh", "0; url="+to)
	return show(signin.LeavePage(signin.Leave{Page: v.shell("Going to "+with.Name(), "/signin"), Name: with.Name(), URL: to})), nil
}

// callback is each provider's own: with one for all, the answer of one could pass
// for another's (RFC 9700, 4.4).
func (s *Server) callback(p provider.Provider) string {
	return s.Config.PublicURL + "/signin/" + p.ID() + "/callback"
}

func (s *Server) returnFromElsewhere(v *visit) (answer, error) {
	with, err := s.provider(v.param("provider"))
	if err != nil {
		return answer{}, err
	}
	query, browser := v.c.Request.URL.Query(), s.cookie(v.c.Request, browserCookie)
	next, err := url.QueryUnescape(s.cookie(v.c.Request, nextCookie))
	if next = localPath(next); err != nil {
		next = ""
	}
	trip, linkTo, err := s.Accounts.Return(v.ctx(), with.ID(), query.Get("state"), browser)
	if err != nil {
		return s.backAtSignIn(v, next, err)
	}
	trip.Callback = s.callback(with)
	if linkTo != "" {
		return s.link(v, with, trip, linkTo)
	}
	person, err := with.Person(v.ctx(), trip, query)
	if err != nil {
		return s.backAtSignIn(v, next, err)
	}
	ticket := ticketIn(next)
	session, err := s.Accounts.SignInAs(v.ctx(), person, ticket, browser, v.from())
	if err != nil {
		return s.backAtSignIn(v, next, err)
	}
	s.setCookie(v.c.Writer, nextCookie, "", 0)
	if ticket.Invitation != "" {
		if _, err := s.Accounts.LookInvitation(v.ctx(), ticket.Invitation); err != nil {
			next = "" // the new account has used it up
		}
	}
	return goOn(next), s.beginSession(v, session)
}

// link adds a way to sign in to the account that asked for it, if it is still the
// one in this browser.
func (s *Server) link(v *visit, with provider.Provider, trip provider.Trip, linkTo string) (answer, error) {
	signedIn, err := v.identify()
	if err != nil {
		return answer{}, err
	}
	if !signedIn || v.who.Account != linkTo {
		return s.backAtSignIn(v, "/account/signins", fault.New(fault.Unauthenticated, "sign_in_failed", "You are no longer signed in to the account that asked to be linked. Sign in and try again."))
	}
	person, err := with.Person(v.ctx(), trip, v.c.Request.URL.Query())
	if err == nil {
		err = s.Accounts.Link(v.ctx(), v.who, person)
	}
	if err != nil {
		return s.backAtLinked(v, err)
	}
	if err := s.rotateSession(v); err != nil {
		return answer{}, err
	}
	return v.done("linked", "/account/signins")
}

// sayable finds an error that the page itself can say.
func (s *Server) sayable(v *visit, err error) (*Problem, error) {
	switch fault.KindOf(err) {
	case fault.Internal, fault.NotFound:
		return nil, err
	}
	if cause := errors.Unwrap(err); cause != nil {
		s.Log.Info("a sign-in elsewhere failed", "request", requestID(v.ctx()), "error", err)
	}
	problem := problemOf(err, "")
	if problem.Status == http.StatusUnauthorized {
		v.c.Header("WWW-Authenticate", bearerChallenge) // RFC 9110, 15.5.2: no 401 without one
	}
	return problem, nil
}

func (s *Server) backAtSignIn(v *visit, next string, err error) (answer, error) {
	problem, err := s.sayable(v, err)
	if err != nil {
		return answer{}, err
	}
	m, err := s.signInForm(v, next)
	m.Error = problem.Detail
	return answer{status: problem.Status, page: signin.SignInPage(m)}, err
}

func (s *Server) backAtLinked(v *visit, err error) (answer, error) {
	problem, err := s.sayable(v, err)
	if err != nil {
		return answer{}, err
	}
	m, err := s.linkedPage(v)
	m.Error = problem.Detail
	return answer{status: problem.Status, page: account.LinkedPage(m)}, err
}

func (s *Server) showLinked(v *visit) (answer, error) {
	m, err := s.linkedPage(v)
	return show(account.LinkedPage(m)), err
}

func (s *Server) linkedPage(v *visit) (account.Linked, error) {
	ways, err := s.Accounts.Ways(v.ctx(), v.who)
	m := account.Linked{Page: v.shell("Linked sign-ins", "/account/signins"), Password: ways.Password}
	linked := map[string]bool{}
	for _, identity := range ways.Identities {
		linked[identity.Issuer] = true
		m.Links = append(m.Links, account.Link{ID: identity.ID, Name: s.issuerName(identity.Issuer), UnlinkAction: "/account/signins/" + url.PathEscape(identity.ID) + "/unlink",
			Detail: identity.Email + ", last used " + humanize.Time(identity.SeenAt)})
	}
	for _, p := range s.Providers {
		if !linked[p.Issuer()] {
			m.Offers = append(m.Offers, account.Offer{Name: p.Name(), Action: "/account/signins/link/" + p.ID()})
		}
	}
	return m, err
}

// issuerName is what the button says, or the issuer itself when it is no longer
// configured.
func (s *Server) issuerName(issuer string) string {
	for _, p := range s.Providers {
		if p.Issuer() == issuer {
			return p.Name()
		}
	}
	return issuer
}

func (s *Server) unlink(v *visit) (answer, error) {
	if err := s.Accounts.Unlink(v.ctx(), v.who, v.param("identity")); err != nil {
		return s.backAtLinked(v, err)
	}
	if err := s.rotateSession(v); err != nil {
		return answer{}, err
	}
	return v.done("unlinked", "/account/signins")
}
