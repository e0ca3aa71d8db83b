package snapshot

import (
	"time"

	"postern/core/contract"
)

// AppClient is an app client of a tenant that the project serves, and our own issuer. A version with the method JWT
// accepts its access tokens in addition to those of the issuers that the version names.
type AppClient struct {
	ID        string // cli_…; the audience of its tokens
	Name      string
	Issuer    string // iss of its tokens, compared byte by byte; see IssuerOf
	TenantID  string
	Keys      []SigningKey // oldest first
	Providers []Provider   // in the order of creation
	Machine   bool         // it gets tokens for itself (RFC 6749, 4.4)
	Frozen    bool         // none of its tokens is accepted

	Settings *ClientSettings `json:",omitempty"` // only in exports
}

// SigningKey is the public part of a key that signs tokens. It is published some time before it starts to sign, so that
// every gateway knows the key when the first token arrives.
type SigningKey struct {
	ID        string    // sig_…; the kid
	Algorithm string    // RS256, ES256 or EdDSA
	JWK       string    // RFC 7517, without the private part
	ExpiresAt time.Time // from then on, it verifies no tokens; zero: it has no expiry yet
}

// Provider is an identity provider that an app client offers; without its secret.
type Provider struct {
	ID            string    // idp_…
	Type          string    // github, google, microsoft, facebook, auth0 or oidc
	ClientID      string    // of the app that is registered with the provider
	Issuer        string    // "" if the type implies it
	Enabled       bool      // users can sign in with it
	ClientToken   TokenType // what the browser gets: ServiceToken or ProviderToken
	UpstreamToken TokenType // what the upstream gets: any but ProviderToken

	Settings *ProviderSettings `json:",omitempty"` // only in exports
}

// Label returns the name of the provider on its button.
func (p Provider) Label() string {
	of := contract.ProviderRecord{Type: p.Type, Issuer: p.Issuer}
	if p.Settings != nil {
		of.Label = p.Settings.Label
	}
	return of.ShownLabel()
}

// TokenType says which token a browser or an upstream gets.
type TokenType string

// The values of token_type.
const (
	ServiceToken        TokenType = contract.ServiceToken  // ours; the upstream gets the caller's unchanged
	ProviderToken       TokenType = contract.ProviderToken // the provider's, of the type that it issues
	ProviderAccessToken TokenType = contract.ProviderAccessToken
	ProviderIDToken     TokenType = contract.ProviderIDToken
	NoToken             TokenType = contract.NoToken
)

// BarredUser is an end user who was frozen or deleted within the last BarredFor, so that one of their tokens may not
// have expired yet, or who is frozen and owns a key that is valid for the project.
type BarredUser struct {
	ID      string // usr_…; the sub of their tokens
	Deleted bool
}

// GroupsLeft is an end user who left a group, or stopped being an admin of one, within the last BarredFor. A token that
// they got before that may still name the group.
type GroupsLeft struct {
	User string // usr_…; the sub of their tokens
	At   int64  // in seconds since 1970
}

// MaxAccess is the longest lifetime of our access tokens.
const MaxAccess = 24 * time.Hour

// BarredFor is how long a user stays barred: the lifetime of a token, and an hour for clock skew and for a token that
// is being signed at that moment.
const BarredFor = MaxAccess + time.Hour

// issuersPath is the path of the issuers of app clients, below the control plane's URL.
const issuersPath = "/oauth/"

// IssuerOf returns an app client's issuer, a URL of the control plane. publicURL has
// no trailing slash.
func IssuerOf(publicURL, clientID string) string { return publicURL + issuersPath + clientID }

// IsOwnIssuer reports whether the issuer could be that of one of our app clients.
func IsOwnIssuer(publicURL, issuer string) bool {
	own := publicURL + issuersPath
	return len(issuer) > len(own) && issuer[:len(own)] == own
}

// The grant types of app clients (RFC 7591, 2). App clients with ClientCredentials get tokens without users (RFC 6749,
// 4.4), whose subject is the app client.
const (
	AuthorizationCode = "authorization_code"
	RefreshToken      = "refresh_token"
	ClientCredentials = "client_credentials"
)

// GrantTypes are all of them.
var GrantTypes = []string{AuthorizationCode, RefreshToken, ClientCredentials}
