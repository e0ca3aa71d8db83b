package snapshot

import (
	"errors"
	"strings"
)

// Line writes a pair as people type it: issuer and audience, and behind them jwks=
// and tenant= where it has them. Neither part may hold a blank.
func (t TokenIssuer) Line() string {
	line := t.Issuer + " " + t.Audience
	if t.JWKSURL != "" {
		line += " jwks=" + t.JWKSURL
	}
	if t.Tenant != "" {
		line += " tenant=" + t.Tenant
	}
	return line
}

// ParseTokenIssuer reads what Line writes. It takes the line apart; whether an issuer
// can have such an address is for others to say.
func ParseTokenIssuer(line string) (TokenIssuer, error) {
	words := strings.Fields(line)
	if len(words) < 2 {
		return TokenIssuer{}, errors.New("a pair is written ISSUER AUDIENCE, with jwks=URL and tenant=NAME behind " +
			"them where needed, and not " + line)
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
			return TokenIssuer{}, errors.New("behind issuer and audience come jwks=URL and tenant=NAME, each at " +
				"most once, and not " + word)
		}
	}
	return out, nil
}
