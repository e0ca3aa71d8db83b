package snapshot

import (
	"errors"
	"strings"

	"postern/core/contract"
)

// TokenIssuer is an issuer whose tokens a version accepts.
type TokenIssuer = contract.TokenIssuer

// ParseTokenIssuer parses the form that Line returns. It does not validate the parts.
func ParseTokenIssuer(line string) (TokenIssuer, error) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return TokenIssuer{}, errors.New("use the form ISSUER AUDIENCE, followed by jwks=URL and tenant=NAME if " +
			"needed, not " + line)
	}
	out := TokenIssuer{Issuer: words[0], Audience: words[1]}
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		switch {
		case name == "jwks" && value != "" && out.JWKSURL == "":
			out.JWKSURL = value
		case name == "tenant" && value != "" && out.Tenant == "":
			out.Tenant = value
		default:
			return TokenIssuer{}, errors.New("use only jwks=URL and tenant=NAME after the issuer and audience, at " +
				"most once each, not " + word)
		}
	}
	return out, nil
}
