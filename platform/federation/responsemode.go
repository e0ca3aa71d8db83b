package federation

// The response modes: how a provider sends its answer to the redirect URI.
const (
	Query    = "query"
	FormPost = "form_post" // OAuth 2.0 Form Post Response Mode
)

// appleIssuer demands response_mode=form_post of requests for a name or an email address
// (developer.apple.com/documentation/signinwithapple/request-an-authorization-to-the-sign-in-with-apple-server).
const appleIssuer = "https://appleid.apple.com"

// DefaultResponseMode returns the response mode of an issuer for which none is configured.
func DefaultResponseMode(issuer string) string {
	if issuer == appleIssuer {
		return FormPost
	}
	return Query
}
