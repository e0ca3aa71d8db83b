package gateway

import (
	"errors"
	"strings"

	"postern/core/policy"
)

// credential is what the upstream gets in place of the caller's Authorization.
type credential struct {
	replace bool   // the caller's does not go on
	line    string // what goes instead; "" for nothing
}

// replaces tells whether a field of the caller's is the one that does not go on.
func (c *credential) replaces(name string) bool {
	return c.replace && len(name) == len(authorizationHeader) && strings.EqualFold(name, authorizationHeader)
}

var (
	errNoOpener = errors.New("this gateway opens no providers' tokens")
	errNoToken  = errors.New("what was opened cannot stand in a header")
)

// settleAuthorization opens what the upstream gets. It is kept no longer than the
// call is, and is in nothing that is logged or counted.
func (c *call) settleAuthorization(becomes policy.Authorization) (policy.Denial, bool) {
	if becomes == policy.AsItCame {
		return policy.Denial{}, true
	}
	c.upstream.replace = true
	if becomes == policy.TakenAway {
		return policy.Denial{}, true
	}
	token, err := c.openToken()
	if err != nil {
		c.warn("the provider's token that the upstream gets cannot be opened", err)
		return policy.TokenSealed, false
	}
	c.upstream.line = "Bearer " + token
	return policy.Denial{}, true
}

func (c *call) openToken() (string, error) {
	if c.gateway.opener == nil {
		return "", errNoOpener
	}
	token, err := c.gateway.opener.Open(c.space.token.ID, c.space.token.Sealed)
	if err == nil && !isOneWord(token) {
		return "", errNoToken
	}
	return token, err
}

// isOneWord tells a text of visible ASCII (RFC 9110, 5.5). A token has nothing else,
// and a line break in it would begin a header of the provider's choosing.
func isOneWord(token string) bool {
	for i := range len(token) {
		if token[i] <= 0x20 || token[i] > 0x7e {
			return false
		}
	}
	return token != ""
}
