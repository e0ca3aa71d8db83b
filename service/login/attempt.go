package login

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/platform/secrets"
	"postern/service/appclients"
	"postern/service/directory"
	"postern/service/login/providers"
)

// NewBrowser returns the secret of an attempt, which its browser keeps in a cookie.
func NewBrowser() string { return secrets.Random() }

var (
	errOtherBrowser = fault.New(
		fault.Forbidden, "login_other_browser",
		"This sign-in wasn't started in this browser, or it took longer than ten minutes. Go back to the application "+
			"and sign in again.",
	)
	errAnswered = fault.New(
		fault.Conflict, "login_answered",
		"This sign-in has already been completed. Go back to the application. If you're not signed in there, sign in "+
			"again.",
	)
)

// attempt returns the attempt if this browser began it and has not finished it.
func (s *Service) attempt(ctx context.Context, clientID, id, browser string) (models.LoginAttempt, error) {
	attempt, err := s.begun(ctx, clientID, id, browser)
	if err == nil && attempt.FinishedAt != nil {
		err = errOtherBrowser
	}
	return attempt, err
}

// begun returns the attempt if this browser began it.
func (s *Service) begun(ctx context.Context, clientID, id, browser string) (models.LoginAttempt, error) {
	attempt, err := s.DB.Read(ctx).LoginAttemptByID(id, models.Now())
	if err != nil && !isAbsent(err) {
		return attempt, fmt.Errorf("login: find the attempt %s: %w", id, err)
	}
	if err != nil || browser == "" || attempt.ClientID != clientID ||
		subtle.ConstantTimeCompare(attempt.BrowserHash, secrets.Digest(browser)) != 1 {
		return attempt, errOtherBrowser
	}
	return attempt, nil
}

// requestOf derives state, nonce and PKCE verifier from the browser's secret, of which
// only the hash is stored: a copy of the database does not suffice to forge an answer.
// They depend on the provider too, so that one provider's answer is of no use at
// another's redirect URI.
func requestOf(attempt, provider, browser string) providers.Request {
	part := func(what string) string {
		mac := hmac.New(sha256.New, []byte(browser))
		for _, text := range []string{what, attempt, provider} {
			mac.Write(append([]byte(text), 0))
		}
		return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	return providers.Request{State: attempt + "." + part("state"), Nonce: part("nonce"), Verifier: part("verifier")}
}

// Choose returns the address of the provider that the browser is sent to.
func (s *Service) Choose(ctx context.Context, clientID, attemptID, providerID, browser string) (string, error) {
	attempt, err := s.attempt(ctx, clientID, attemptID, browser)
	if err != nil {
		return "", err
	}
	if attempt.AnsweredAt != nil {
		if err := s.reopen(ctx, attempt.ID); err != nil {
			return "", err
		}
	}
	config, _, err := s.providerConfig(ctx, clientID, providerID)
	if err != nil {
		return "", err
	}
	if !demandOf(attempt).canBeMetBy(config.Type) {
		return "", fault.New(
			fault.Conflict, errorUnmet,
			"The application requires proof of when you signed in, which %s can't provide. Choose another way to "+
				"sign in.",
			config.Name(),
		).Worded("unmet_authentication_requirements", "provider", config.Name())
	}
	rules, err := s.rulesOf(ctx, providerID)
	if err != nil {
		return "", err
	}
	config.Claims = rules.paths()
	request := requestOf(attempt.ID, providerID, browser)
	request.MaxAge, request.ACRValues = attempt.MaxAge, attempt.ACRValues
	request.LoginHint, request.UILocales = attempt.LoginHint, attempt.UILocales
	request.Prompt = providers.Prompt{
		Login:         granted(attempt.Prompt, "login"),
		SelectAccount: granted(attempt.Prompt, "select_account"),
	}
	return s.Clients.Providers.AuthorizeURL(ctx, config, request)
}

// AuthorizationResponse is the response that a provider sent the browser back with.
type AuthorizationResponse struct {
	Client   string
	Provider string
	State    string
	Code     string
	Issuer   string
	Error    string
	Cookie   string // of the user's session at the hosted pages, "" for none
	Repeated bool
}

// Outcome is the result of a provider's authorization response: a redirect to the client (Back), or a page that asks
// for consent.
type Outcome struct {
	Finished
	Attempt   string
	Ticket    secrets.Secret // opaque; the consent form sends it back
	Client    Look
	Name      string  // of the user, as the provider stated it
	Email     string  // the same
	Label     string  // of the provider; the public one
	Shares    []Share // what the client would learn
	Before    string  // scopes the user consented to earlier, "" for none
	Site      string  // origin of the redirect URI
	TestLogin bool    // see Attempt
	Refused   string  // see Attempt
	Again     string  // address of the provider, which is asked again; "" for a page or Back

	AddsFragment bool // to the callback's address, as Facebook adds #_=_; also set if there is an error
}

// ticket is the state between a provider's answer and the user's consent. It travels
// sealed through the browser, because it may hold the provider's tokens.
type ticket struct {
	Identity directory.ExternalIdentity
	Handed   *handed `json:",omitempty"`

	Authentication federation.Authentication `json:",omitzero"`

	Mapped *mapped `json:",omitempty"` // nil if the provider maps no groups

	// Code is the SHA-256 of the code that the provider sent, by which a reload of the callback is recognized.
	Code []byte
}

// answered is the user who signed in at a provider, with its public label, its tokens and the groups that its claims
// map to.
type answered struct {
	label    string
	identity federation.Identity
	tokens   providers.Tokens
	mapped   *mapped
}

// handed holds the provider's tokens that a code carries to the token endpoint. They are
// stored in no table: the code holds them sealed, and its exchange opens them.
type handed struct {
	Client   string
	Upstream string
	Access   string
	ID       string
	Expires  time.Time
}

func ticketPlace(attempt string) secrets.Place {
	return secrets.Place{
		Table:   "login_attempts",
		Row:     attempt,
		Column:  "ticket",
		Purpose: secrets.ForControl,
	}
}

// HandleCallback processes a provider's authorization response, once for an attempt.
// Forbidden login_other_browser, provider_denied or provider_answer_refused, Conflict
// login_answered, and the errors of providers.Set.Complete.
func (s *Service) HandleCallback(ctx context.Context, in AuthorizationResponse, browser string) (Outcome, error) {
	row, err := s.providerRow(ctx, in.Provider)
	if err != nil {
		return Outcome{}, err
	}
	out, err := s.callback(ctx, in, row, browser)
	out.AddsFragment = row.Type == providers.Facebook
	return out, err
}

func (s *Service) callback(
	ctx context.Context, in AuthorizationResponse, row models.Provider, browser string,
) (Outcome, error) {
	id, _, _ := strings.Cut(in.State, ".")
	attempt, err := s.attempt(ctx, in.Client, id, browser)
	if err != nil {
		return Outcome{}, err
	}
	request := requestOf(attempt.ID, in.Provider, browser)
	if in.Repeated || !hmac.Equal([]byte(request.State), []byte(in.State)) {
		return Outcome{}, errOtherBrowser
	}
	config, err := s.offeredConfig(ctx, in.Client, row)
	if err != nil {
		return Outcome{}, err
	}
	if in.Error != "" {
		return Outcome{}, refusedBy(config, in.Error)
	}
	if attempt.Ticket != nil {
		again, isReload, err := s.askAgain(ctx, attempt, row, in, browser)
		if err != nil || isReload {
			return again, err
		}
	}
	if err := s.answerOnce(ctx, attempt.ID); err != nil {
		return Outcome{}, err
	}
	if in.Code == "" {
		return Outcome{}, refusedBy(config, "no code")
	}
	rules, err := s.rulesOf(ctx, row.ID)
	if err != nil {
		return Outcome{}, err
	}
	config.Claims, config.AllClaims = rules.paths(), attempt.Tester != ""
	identity, tokens, err := s.Clients.Providers.Complete(ctx, config, request, providers.Response{
		Code:   in.Code,
		Issuer: in.Issuer,
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("login: callback of %s: %w", in.Provider, err)
	}
	s.Clients.KeepEndpointsOf(ctx, row, config)
	now := models.Now()
	identity.Authentication = plausible(identity.Authentication, now)
	if why := demandOf(attempt).unmet(identity.Authentication, now); why != "" {
		return s.refuseUnmet(ctx, attempt, why)
	}
	if attempt.Tester != "" {
		if err := s.keepStated(ctx, attempt, row, identity); err != nil {
			return Outcome{}, err
		}
	}
	return s.complete(ctx, attempt, row, answered{config.Name(), identity, tokens, rules.evaluate(identity)}, in)
}

// refusedBy is the fault for a provider's error response. The provider's text is not
// shown, because anyone can construct such a link.
func refusedBy(c providers.Config, code string) error {
	if code == "access_denied" || code == "consent_required" || code == "user_cancelled" {
		return fault.New(
			fault.Forbidden, "provider_denied", "You didn't finish signing in with %s.",
			c.Name(),
		).Worded("provider_denied", "provider", c.Name())
	}
	return fault.New(
		fault.Forbidden, "provider_answer_refused",
		"%s couldn't sign you in. Try again, or sign in another way.", c.Name(),
	).Worded("provider_refused", "provider", c.Name()).Because(fmt.Errorf("%s returned %s", c.Type, plainCode(code)))
}

var codePattern = regexp.MustCompile(`^[a-z_]{1,40}$`)

// plainCode returns an error code that is safe to log.
func plainCode(code string) string {
	if codePattern.MatchString(code) {
		return code
	}
	return "an invalid error code"
}

// complete finishes the login of a user who consented to the request's scopes before,
// and asks any other user for consent.
func (s *Service) complete(
	ctx context.Context, attempt models.LoginAttempt, row models.Provider, answer answered,
	in AuthorizationResponse,
) (Outcome, error) {
	client, err := s.client(ctx, row.AppClientID)
	if err != nil {
		return Outcome{}, err
	}
	entry := ticket{
		Handed:         handedOn(row, answer.tokens),
		Identity:       externalIdentity(client, row, answer.identity),
		Authentication: answer.identity.Authentication,
		Mapped:         answer.mapped,
		Code:           secrets.Digest(in.Code),
	}
	if attempt.RedirectURI == s.accountURI(client.ID) {
		done, err := s.enterAccount(ctx, attempt, client, entry, in.Cookie)
		return Outcome{Finished: done}, err
	}
	if err := entry.Handed.check(answer.label); err != nil {
		return Outcome{}, err
	}
	return s.settle(ctx, attempt, client, row, entry)
}

// settle finishes the login, or asks for consent.
func (s *Service) settle(
	ctx context.Context, attempt models.LoginAttempt, client models.AppClient, row models.Provider, entry ticket,
) (Outcome, error) {
	var out Outcome
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		user, known, err := directory.FindByIdentity(tx, entry.Identity)
		if err != nil {
			return err
		}
		if !known {
			if err := directory.MayJoin(tx, entry.Identity); err != nil {
				return err
			}
		}
		if attempt.HintUser != "" && user.ID != attempt.HintUser {
			out.Back, err = s.otherUser(tx, attempt)
			return err
		}
		before, err := consentOf(tx, user.ID, client.ID)
		if err != nil {
			return err
		}
		if known && covers(before, shared(attempt, entry.Handed)) && !asksConsent(attempt.Prompt) {
			out.Finished, err = s.finish(ctx, tx, attempt, client, entry)
			return err
		}
		out, err = s.askConsent(tx, attempt, client, row, entry, before)
		out.Before = before
		return err
	})
	if err != nil {
		return Outcome{}, fmt.Errorf("login: complete a login at %s: %w", client.ID, err)
	}
	return out, nil
}

// handedOn returns the provider's tokens that the client or the upstream gets, nil for
// none.
func handedOn(row models.Provider, tokens providers.Tokens) *handed {
	types := appclients.TokenTypeOf(row)
	if !appclients.NeedsProvider(types) {
		return nil
	}
	out := &handed{Client: types.Client, Upstream: types.Upstream, Expires: tokens.Expires}
	if types.Upstream == contract.ProviderIDToken {
		out.ID = tokens.ID.Reveal()
	} else {
		out.Access = tokens.Access.Reveal()
	}
	return out
}

// check refuses a provider that did not give the token that is handed on: there may be an ID token alone, or none.
func (h *handed) check(provider string) error {
	if h == nil || h.Access != "" || h.ID != "" {
		return nil
	}
	if h.Upstream == contract.ProviderIDToken {
		return fault.New(
			fault.Forbidden, "provider_answer_refused",
			"%s didn't send an ID token. Contact the application's support team.", provider,
		).Worded("provider_id_token_missing", "provider", provider)
	}
	return fault.New(
		fault.Forbidden, "provider_answer_refused",
		"%s didn't send an access token. Contact the application's support team.", provider,
	).Worded("provider_access_token_missing", "provider", provider)
}

// Resume returns an attempt of this browser after an error: with its providers if none
// has answered yet, and otherwise with the redirect to the client only.
func (s *Service) Resume(ctx context.Context, clientID, attemptID, browser string) (Attempt, error) {
	attempt, err := s.attempt(ctx, clientID, attemptID, browser)
	if err != nil {
		return Attempt{}, err
	}
	out := Attempt{
		ID:        attempt.ID,
		TestLogin: attempt.Tester != "",
		Site:      appclients.OriginOf(attempt.RedirectURI),
		Back:      s.backTo(attempt, url.Values{"error": {"access_denied"}}),
	}
	client, err := s.client(ctx, clientID)
	if err != nil {
		return out, err
	}
	out.Client, err = s.lookOf(s.DB.Read(ctx), client, attempt.RedirectURI)
	out.Client.Locales = attempt.UILocales
	if err != nil || attempt.AnsweredAt != nil {
		return out, err
	}
	offered, err := s.enabledProviders(ctx, clientID)
	out.Providers = demandOf(attempt).among(offered)
	return out, err
}
