// Package federation is the client side of federated sign-in: it sends a browser to an
// identity provider, exchanges the code that comes back and verifies who signed in.
//
// It owns discovery with its bounds, the code exchange, ID tokens, userinfo and
// GitHub's REST calls. It leaves to its callers who is configured and how long a
// discovery document is kept, what binds an attempt to a browser, and what an identity
// opens. Standards: OAuth 2.0 (RFC 6749) with PKCE (RFC 7636) and iss (RFC 9207),
// OpenID Connect Core 1.0, section 3.1, and Discovery 1.0.
package federation

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/oauth2"

	"postern/platform/secrets"
	"postern/platform/traces"
)

// Client is an app that is registered with a provider.
type Client struct {
	HTTP   *http.Client // see Bounded; it must not follow redirects
	ID     string
	Secret secrets.Secret // "" for a public client
	Scopes []string
	Policy Policy

	ResponseMode string // Query or FormPost; "" is Query

	Claims    []ClaimPath // that the caller reads: userinfo is asked if the ID token lacks one
	AllClaims bool        // the caller reads every claim: userinfo is asked in any case

	KeepsProfile bool // userinfo is requested for a profile that the ID token lacks; if that fails, there is none
}

// Policy states everything in which the callers of this package differ: the dashboard's sign-in
// (service/accounts/federated), whose providers the operator configures, and hosted login (service/login/providers),
// whose providers customers configure. Checks without a field here are the same for both, such as: the signature
// algorithms, the nonce (constant time), audience and azp, at_hash where present, expiry, and the subject of userinfo.
// Both read a missing email_verified as "not verified".
//
// One difference is in the order of calls: the dashboard compares iss before the exchange as well (CheckIssuer). Hosted
// login compares it once the ID token is verified, because that names the tenant at Microsoft; each of its providers
// has a separate redirect URI, so that a code never reaches another one's token endpoint.
type Policy struct {
	// TrustEndpoints takes the endpoints of a discovery document unchecked; only the
	// authorization endpoint must be a web URL. The dashboard sets it: an operator's
	// issuer may have endpoints inside a private network. Without it every endpoint must
	// use https, unless the issuer itself uses http.
	TrustEndpoints bool

	// RefuseUnverifiedEmail ends a sign-in with ErrEmailUnverified if the provider states that the address is not
	// verified (email_verified false, or a GitHub account without a verified primary address). The dashboard sets it:
	// invitations and password sign-in use an account's address. Hosted login uses only issuer and subject, and keeps
	// the address as unverified. A missing email_verified ends none: the operator's issuer is trusted with invitations
	// anyway (service/accounts: vouches).
	RefuseUnverifiedEmail bool

	// UsernameAsName takes preferred_username where name is missing. Hosted login sets
	// it; the dashboard shows the address instead, by which teams invite their members.
	UsernameAsName bool

	// TenantIssuers leaves the issuer of an ID token to the caller. Hosted login sets it
	// for Microsoft's multi-tenant authorities, whose document has a placeholder there.
	TenantIssuers bool

	// GitHubSiteIssuer also accepts the address of the site as iss from GitHub. The
	// dashboard sets it: its only GitHub is the operator's own setting, and either address
	// identifies it. Hosted login accepts only what GitHub documents, <site>/login/oauth.
	GitHubSiteIssuer bool

	// GitHubAPIVersion is sent as X-GitHub-Api-Version unless it is empty. The dashboard
	// pins it; hosted login does not, because a customer's GitHub Enterprise Server can
	// be of any age, and answers 400 to a version that it does not support.
	GitHubAPIVersion string
}

// Attempt binds one sign-in: to the browser that began it, to the ID token and to the code. All fields but RedirectURL
// are secret until they are sent.
type Attempt struct {
	State       string
	Nonce       string
	Verifier    string // PKCE; only its S256 challenge is sent
	RedirectURL string
}

// Identity is the end user as the provider describes them. Issuer and Subject identify a user permanently; the rest may
// change and may be missing.
type Identity struct {
	Issuer        string
	Subject       string
	Email         string
	EmailVerified bool // the provider states that it has verified Email
	Name          string

	// Domain is the domain of Email if the provider is authoritative for it, and otherwise "".
	Domain string

	// DirectoryID is the user's ID in the provider's directory, if a provisioning system sends the same ID; otherwise
	// "".
	DirectoryID string

	Authentication Authentication
	Profile        Profile

	Claims *ClaimSet // nil if the caller reads none, or the provider doesn't send any; its texts can be long
}

// AnswerError is the reason why a provider's response is refused. A correctly configured,
// honest provider never causes it. It holds neither tokens nor text of the provider.
type AnswerError string

func (e AnswerError) Error() string { return string(e) }

// ErrUnreadable is in the chain of errors about a response that is not the expected JSON.
var ErrUnreadable = errors.New("unreadable response")

// ErrEmailUnverified is returned under Policy.RefuseUnverifiedEmail.
var ErrEmailUnverified = errors.New("the email address isn't verified")

// ExchangeError is a token endpoint's refusal (RFC 6749, 5.2), without its body, which
// may hold tokens.
type ExchangeError struct {
	Status int    // of HTTP
	Code   string // one of knownErrors, or "another error"
}

func (e *ExchangeError) Error() string {
	return fmt.Sprintf("the token endpoint returned %d %q", e.Status, e.Code)
}

// knownErrors are those of RFC 6749, 5.2, and GitHub's own
// (docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors).
var knownErrors = []string{
	"invalid_request",
	"invalid_client",
	"invalid_grant",
	"unauthorized_client",
	"unsupported_grant_type",
	"invalid_scope",
	"incorrect_client_credentials",
	"redirect_uri_mismatch",
	"bad_verification_code",
	"unverified_user_email",
}

func (c *Client) oauth(endpoint oauth2.Endpoint, attempt Attempt) *oauth2.Config {
	return &oauth2.Config{
		ClientID:     c.ID,
		ClientSecret: c.Secret.Reveal(),
		Endpoint:     endpoint,
		RedirectURL:  attempt.RedirectURL,
		Scopes:       c.Scopes,
	}
}

// AuthorizeURL returns the URL that the browser is sent to. The nonce is sent with
// the scope openid only: without it there is no ID token to carry it back.
func (c *Client) AuthorizeURL(
	endpoint oauth2.Endpoint, attempt Attempt, options ...oauth2.AuthCodeOption,
) string {
	options = append(slices.Clone(options), oauth2.S256ChallengeOption(attempt.Verifier))
	if slices.Contains(c.Scopes, "openid") {
		options = append(options, oauth2.SetAuthURLParam("nonce", attempt.Nonce))
	}
	if c.ResponseMode == FormPost { // not every provider knows the parameter
		options = append(options, oauth2.SetAuthURLParam("response_mode", FormPost))
	}
	return c.oauth(endpoint, attempt).AuthCodeURL(attempt.State, options...)
}

// Exchange redeems an authorization code. The access token is "" where the response has an ID token alone, as that of
// Azure AD B2C does if no scope of an API was requested. The error is an *ExchangeError where the endpoint refuses, an
// AnswerError where its response holds no token, and any other where it cannot be reached.
func (c *Client) Exchange(
	ctx context.Context, endpoint oauth2.Endpoint, attempt Attempt, code string,
) (*oauth2.Token, error) {
	ctx = context.WithValue(traces.For(ctx, "token"), oauth2.HTTPClient, exactClient(c.HTTP))
	token, err := c.oauth(endpoint, attempt).Exchange(ctx, code, oauth2.VerifierOption(attempt.Verifier))
	if err == nil && token.TokenType != "" && !strings.EqualFold(token.TokenType, "bearer") {
		// RFC 6749, 7.1: a client must not use a token whose type it doesn't understand.
		return nil, AnswerError("its token isn't a bearer token")
	}
	if err == nil {
		if token.AccessToken == noAccessToken {
			token.AccessToken = ""
		}
		return token, nil
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		out := &ExchangeError{Code: refused.ErrorCode}
		if refused.Response != nil {
			out.Status = refused.Response.StatusCode
		}
		if !slices.Contains(knownErrors, out.Code) { // text of the provider's, which could be a token
			out.Code = "another error"
		}
		return nil, out
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return nil, withoutURL(err)
	}
	return nil, AnswerError("its token endpoint didn't send a token")
}
