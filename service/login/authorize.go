package login

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/appclients"
)

// Bounds on parameters of an authorization request, in bytes.
const (
	maxState = 2048
	maxScope = 1024
	maxHint  = 500
)

// scopes are those of OpenID Connect that are supported.
var scopes = []string{"openid", "profile", "email", "groups", ManagesGroups, "offline_access"}

// AuthorizationRequest is an authorization request (RFC 6749, 4.1.1; OpenID Connect Core
// 1.0, 3.1.2.1).
type AuthorizationRequest struct {
	ClientID        string
	RedirectURI     string
	ResponseType    string
	ResponseMode    string
	Scope           string
	State           string
	Nonce           string
	Challenge       string
	ChallengeMethod string
	Prompt          string
	MaxAge          string // seconds
	Hint            string // id_token_hint
	Cookie          string // of the user's session at the hosted pages, "" for none
	UserAgent       string
	ACRValues       string
	LoginHint       string
	UILocales       string
	Resources       []string
	Request         string // a request object, which is not supported
	Repeated        bool   // a parameter was sent twice
}

// Attempt is a login that waits for the user to choose a provider; or, when Back is set, an answer that sends the
// browser back to the client. If Refused is set too, the user sends Back from a page that explains the error.
type Attempt struct {
	Back      Back
	Refused   string
	ID        string
	Client    Look
	Providers []ProviderOption
	Direct    string // the provider to go to without a choice, "" to show the page
	Site      string // origin of the redirect URI
	TestLogin bool   // started from the dashboard
}

// ProviderOption is an enabled provider that the user can choose.
type ProviderOption struct {
	ID    string
	Type  string
	Label string

	SignInDomains []string // of addresses that lead to it
}

var errRedirectURI = fault.New(
	fault.Malformed, "redirect_uri_mismatch",
	"The application asked to send you to a URL that isn't registered for it. Contact the application's support team.",
)

// Authorize checks an authorization request and stores an attempt for the browser.
// Errors are shown to the user and not sent to the redirect URI, because it is not known
// to be the client's (RFC 6749, 4.1.2.1).
func (s *Service) Authorize(ctx context.Context, in AuthorizationRequest, browser string) (Attempt, error) {
	client, err := s.client(ctx, in.ClientID)
	if err != nil {
		return Attempt{}, err
	}
	if !appclients.IsRegistered(client.RedirectURIs, in.RedirectURI) {
		return Attempt{}, errRedirectURI
	}
	look, err := s.lookOf(s.DB.Read(ctx), client, in.RedirectURI)
	if err != nil {
		return Attempt{}, err
	}
	look.Locales = in.UILocales
	if client.FrozenAt != nil || !slices.Contains(client.GrantTypes, snapshot.AuthorizationCode) {
		return s.sentBack(look, in, errUnauthorizedClient.Code, errUnauthorizedClient.Public), nil
	}
	if code, text := in.check(client); code != "" {
		in.readRefusal()
		return s.sentBack(look, in, code, text), nil
	}
	offered, err := apisOf(s.DB.Read(ctx), client)
	if err != nil {
		return Attempt{}, fmt.Errorf("login: API scopes of %s: %w", client.ID, err)
	}
	in.Scope, err = offered.grant(client, in.Scope, in.Resources, scopes)
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return s.sentBack(look, in, refused.Code, refused.Public), nil
	}
	hint, err := s.hintedUser(ctx, client, in.Hint)
	if errors.Is(err, errToken) {
		return s.sentBack(look, in, "invalid_request", "id_token_hint isn't an ID token of this issuer"), nil
	}
	if err != nil {
		return Attempt{}, fmt.Errorf("login: read the id_token_hint: %w", err)
	}
	if granted(in.Prompt, "none") {
		return s.silent(ctx, client, look, in, hint)
	}
	options, err := s.enabledProviders(ctx, client.ID)
	if err != nil {
		return Attempt{}, err
	}
	if len(options) == 0 {
		return Attempt{}, fault.New(
			fault.Unavailable, "no_providers",
			"You can't sign in yet, because this application has no sign-in provider. Contact the application's "+
				"support team.",
		)
	}
	attempt := in.attempt(browser, models.Now())
	attempt.HintUser = hint
	asked := demandOf(attempt)
	if options = asked.among(options); len(options) == 0 {
		return s.sentBack(look, in, errorUnmet, cannotBeMet), nil
	}
	// The first key is created now, so that gateways have loaded it when a token comes.
	if _, err := s.signer(ctx, client); err != nil {
		return Attempt{}, fmt.Errorf("login: signing key of %s: %w", client.ID, err)
	}
	err = s.DB.Write(ctx, func(tx *models.Tx) error { return tx.Insert(&attempt) })
	if err != nil {
		return Attempt{}, fmt.Errorf("login: store a sign-in attempt: %w", err)
	}
	return Attempt{
		ID:        attempt.ID,
		Client:    look,
		Providers: options,
		Direct:    direct(look, options, attempt),
		Site:      appclients.OriginOf(attempt.RedirectURI),
	}, nil
}

// attempt returns the attempt that the request begins in a browser.
func (in AuthorizationRequest) attempt(browser string, now time.Time) models.LoginAttempt {
	return models.LoginAttempt{
		ID:            models.NewID("lgn"),
		ClientID:      in.ClientID,
		BrowserHash:   secrets.Digest(browser),
		RedirectURI:   in.RedirectURI,
		State:         in.State,
		Nonce:         in.Nonce,
		Scope:         in.Scope,
		Resources:     in.Resources,
		Prompt:        in.prompts(),
		MaxAge:        in.maxAge(),
		ACRValues:     strings.Join(strings.Fields(in.ACRValues), " "),
		LoginHint:     in.LoginHint,
		UILocales:     in.UILocales,
		ResponseMode:  in.mode(),
		CodeChallenge: in.Challenge,
		UserAgent:     shortened(in.UserAgent),
		CreatedAt:     now,
		ExpiresAt:     now.Add(attemptTTL),
	}
}

// sentBack returns an error response for the client (RFC 6749, 4.1.2.1). Anyone can
// register a redirect URI in an unclaimed workspace, so a page comes before the redirect
// there (open redirect; RFC 9700, 4.11.2).
func (s *Service) sentBack(look Look, in AuthorizationRequest, code, text string) Attempt {
	out := Attempt{
		Client: look,
		Back:   s.backTo(in.attempt("", models.Now()), url.Values{"error": {code}, "error_description": {text}}),
	}
	if look.Unclaimed {
		out.Refused = fmt.Sprintf("The application's request was refused: %s (%s).", text, code)
	}
	return out
}

// check returns the error code of RFC 6749, 4.1.2.1 or OpenID Connect Core 1.0, 3.1.2.6,
// "" for none.
func (in AuthorizationRequest) check(client models.AppClient) (code, text string) {
	switch {
	case in.Repeated:
		return "invalid_request", "a parameter is sent twice"
	case in.Request != "":
		return "request_not_supported", "request objects aren't supported"
	case in.ResponseType == "":
		return "invalid_request", "response_type is missing; it must be code"
	case in.ResponseType != "code":
		return "unsupported_response_type", "response_type must be code"
	case !slices.Contains(strings.Fields(in.Scope), "openid"):
		return "invalid_scope", "scope must contain openid"
	case in.MaxAge != "" && !isWholeNumber(in.MaxAge):
		return "invalid_request", "max_age must be a number of seconds"
	case len(in.State) > maxState || len(in.Nonce) > maxState || len(in.Scope) > maxScope:
		return "invalid_request", "state, nonce or scope is too long"
	}
	if code, text = in.checkMode(); code != "" {
		return code, text
	}
	if code, text = in.checkChallenge(client); code != "" {
		return code, text
	}
	if code, text = in.checkHints(); code != "" {
		return code, text
	}
	return in.checkPrompt()
}

// checkPrompt checks prompt (OpenID Connect Core 1.0, 3.1.2.1).
func (in AuthorizationRequest) checkPrompt() (code, text string) {
	values := strings.Fields(in.Prompt)
	for i, one := range values {
		if !slices.Contains(knownPrompts, one) || slices.Contains(values[:i], one) {
			return "invalid_request", "prompt must be none, or any of login, consent and select_account, each only once"
		}
	}
	if slices.Contains(values, "none") && len(values) > 1 {
		return "invalid_request", "prompt=none can't be combined with other values"
	}
	return "", ""
}

// prompts returns the values of prompt for the page and the provider. max_age=0 is the
// same as login (OpenID Connect Core 1.0, 3.1.2.1).
func (in AuthorizationRequest) prompts() string {
	values := strings.Fields(in.Prompt)
	if age := in.maxAge(); age != nil && *age == 0 && !slices.Contains(values, "login") {
		values = append(values, "login")
	}
	return strings.Join(values, " ")
}

func isWholeNumber(text string) bool {
	_, err := strconv.ParseUint(text, 10, 32)
	return err == nil
}

// knownPrompts are the values of OpenID Connect Core 1.0, 3.1.2.1.
var knownPrompts = []string{"none", "login", "consent", "select_account"}

// client returns an app client. It needs no permission, because an issuer is public. App clients of a deleted project's
// own tenant are not found: there is no sign-in to it.
func (s *Service) client(ctx context.Context, id string) (models.AppClient, error) {
	tx := s.DB.Read(ctx)
	client, err := tx.AppClientByID(id)
	if err != nil && !isAbsent(err) {
		return client, fmt.Errorf("login: find the app client %s: %w", id, err)
	}
	if err != nil {
		return client, access.Missing(err)
	}
	deleted, err := tx.ServedFromBin(client.TenantID)
	if err != nil {
		return client, fmt.Errorf("login: find the project of the app client %s: %w", id, err)
	}
	if deleted {
		return client, access.NotFound()
	}
	return client, nil
}

func (s *Service) enabledProviders(ctx context.Context, clientID string) ([]ProviderOption, error) {
	tx := s.DB.Read(ctx)
	rows, err := tx.ProvidersOf(clientID)
	if err != nil {
		return nil, fmt.Errorf("login: providers of %s: %w", clientID, err)
	}
	held, err := s.Clients.HeldByID(tx, clientID)
	if err != nil {
		return nil, err
	}
	var options []ProviderOption
	for _, row := range rows {
		if row.Enabled {
			label := appclients.PublicLabel(row, held)
			options = append(options, ProviderOption{row.ID, row.Type, label, row.SignInDomains})
		}
	}
	return options, nil
}
