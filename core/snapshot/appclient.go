package snapshot

import "time"

// AppClient is an app client of a tenant that the project serves: an issuer of our
// own. A version with the method JWT takes its access tokens beside those of the
// issuers that it names.
type AppClient struct {
	ID        string // cli_…; the audience of its tokens
	Name      string
	Issuer    string // iss of its tokens, compared byte by byte; see IssuerOf
	TenantID  string
	Keys      []SigningKey // oldest first
	Providers []Provider   // in the order they were made
}

// SigningKey is the public part of a key that signs tokens, some time before it
// does, so that every gateway knows it when the first one comes.
type SigningKey struct {
	ID        string    // sig_…; the kid
	Algorithm string    // RS256, ES256 or EdDSA
	JWK       string    // RFC 7517; it never holds what signs
	ExpiresAt time.Time // verifies nothing from then on; zero: it has no end yet
}

// Provider is an identity provider that an app client offers; never its secret.
type Provider struct {
	ID            string    // idp_…
	Type          string    // github, google, microsoft, facebook, auth0 or oidc
	AppID         string    // what it calls the app whose tokens it gives
	Issuer        string    // where the type does not say
	Enabled       bool      // false: nobody signs in with it
	TokenClient   TokenType // what the browser gets: ServiceToken or ProviderToken
	TokenUpstream TokenType // what the upstream gets: any but ProviderToken
}

// TokenType says whose token somebody gets.
type TokenType string

// The values of token_type.
const (
	ServiceToken        TokenType = "service"  // ours, as it came with the call
	ProviderToken       TokenType = "provider" // the provider's, whichever it has
	ProviderAccessToken TokenType = "provider_access_token"
	ProviderIDToken     TokenType = "provider_id_token"
	NoToken             TokenType = "none"
)

// BarredUser is an end user who was frozen or deleted so lately that a token may
// still be about, or who is frozen and owns a key that opens the project.
type BarredUser struct {
	ID      string // usr_…; the sub of their tokens
	Deleted bool
}

// MaxAccess is the longest that an access token of ours lasts.
const MaxAccess = 24 * time.Hour

// BarredFor is how long somebody stays among the barred: longer than the last token
// can, by as much as clocks and a token that is being signed meanwhile may take.
const BarredFor = MaxAccess + time.Hour

// issuersPath is where the issuers of app clients are, below the control plane.
const issuersPath = "/oauth/"

// IssuerOf is an app client's issuer: an address of the control plane, whose own has
// no slash at the end.
func IssuerOf(publicURL, clientID string) string { return publicURL + issuersPath + clientID }

// IsOwnIssuer tells whether an issuer is below those of the control plane.
func IsOwnIssuer(publicURL, issuer string) bool {
	own := publicURL + issuersPath
	return len(issuer) > len(own) && issuer[:len(own)] == own
}
