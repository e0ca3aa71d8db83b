package gateway

import (
	"errors"
	"strings"

	"postern/core/policy"
)

// upstreamCredentials says which credentials the upstream gets. It is dropped with the call and
// never logged.
type upstreamCredentials struct {
	withoutKey bool // X-API-Key is the gateway's own and is removed

	places *policy.KeyPlaces // that have a key, instead of X-API-Key; nil: none

	withoutAuthorization bool   // Authorization is removed
	authorization        string // the line that replaces it; "" for none
}

// removes reports whether the caller's field of that name is an Authorization to remove.
func (u *upstreamCredentials) removes(name string) bool {
	return u.withoutAuthorization && len(name) == len(authorizationHeader) &&
		strings.EqualFold(name, authorizationHeader)
}

var (
	errNoOpener = errors.New("this gateway can't decrypt providers' tokens")
	errNoToken  = errors.New("the decrypted token can't be sent in a header")
)

// credentialsFor returns the credentials that the decision lets the upstream have. It decrypts
// the provider's token if the upstream gets that one.
func (c *call) credentialsFor(d *policy.Decision) (upstreamCredentials, policy.Denial, bool) {
	out := upstreamCredentials{
		withoutKey:           d.StripKey,
		withoutAuthorization: d.Authorization != policy.KeepAuthorization || c.keyInAuthorization,
	}
	if p := c.places(); p != nil && d.StripKey {
		out.withoutKey, out.places = c.keyInDefaultPlace, p
	}
	if c.route.environment.proof.replacesAuthorization() {
		return out, policy.Denial{}, true
	}
	if d.Authorization == policy.KeepAuthorization || d.Authorization == policy.DropAuthorization {
		return out, policy.Denial{}, true
	}
	token, err := c.openToken()
	if err != nil {
		c.warn("could not decrypt the provider's token for the upstream", err)
		return upstreamCredentials{}, policy.TokenSealed, false
	}
	out.authorization = "Bearer " + token
	return out, policy.Denial{}, true
}

func (c *call) openToken() (string, error) {
	if c.gateway.opener == nil {
		return "", errNoOpener
	}
	token, err := c.gateway.opener.Open(c.cache.token.ID, c.cache.token.Sealed)
	if err == nil && !isVisibleASCII(token) {
		return "", errNoToken
	}
	return token, err
}

// isVisibleASCII reports whether a token is not empty and all visible ASCII, as tokens are
// (RFC 9110 section 5.5): a line break would let the provider add headers of its choosing.
func isVisibleASCII(token string) bool {
	for i := range len(token) {
		if token[i] <= 0x20 || token[i] > 0x7e {
			return false
		}
	}
	return token != ""
}
