package policy

import (
	"strings"

	"postern/core/snapshot"
)

// BearerToken returns the credentials in a line of Authorization with the scheme Bearer, whose name is
// case-insensitive (RFC 9110 section 11.1).
func BearerToken(line string) (token string, ok bool) {
	const scheme = "Bearer"
	line = strings.Trim(line, " \t")
	if len(line) < len(scheme) || !strings.EqualFold(line[:len(scheme)], scheme) {
		return "", false
	}
	if token = line[len(scheme):]; token != "" && token[0] != ' ' && token[0] != '\t' {
		return "", false // another scheme that begins with Bearer
	}
	return strings.TrimLeft(token, " \t"), true
}

// MisplacedKey returns the denial for an API key that is sent as a bearer token. The key is neither verified nor sent
// to an issuer.
func MisplacedKey(access *snapshot.Access) Denial {
	if access.Allows(snapshot.APIKey) {
		return KeyInAuthorization
	}
	return KeysNotAccepted
}

// required returns the denial of a call without a credential that its version accepts, as the version says it.
func (c *Call) required() Denial { return c.Places.Name(c.missing()) }

func (c *Call) missing() Denial {
	keys, tokens := c.Access.Allows(snapshot.APIKey), c.Access.TakesTokens()
	line := strings.TrimRight(c.Authorization, " \t")
	bearer, isBearer := BearerToken(line)
	switch {
	case keys && WellFormedKey(line[strings.LastIndexAny(line, " \t")+1:]):
		return KeyInAuthorization
	case keys && tokens:
		return EitherRequired
	case tokens:
		return TokenRequired
	case keys && isBearer && bearer != "":
		return TokensNotAccepted
	}
	return CredentialsRequired
}
