package bearer

import (
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/json"

	"postern/core/policy"
	"postern/core/snapshot"
)

// leeway is how far an issuer's clock may be from ours.
const leeway = 60 * time.Second

// claims are those of a token that count (RFC 7519, 4.1; RFC 8693, 4.2). Times are
// seconds since 1970 and may have a fraction; nil is absent.
type claims struct {
	Issuer    string    `json:"iss"`
	Subject   string    `json:"sub"`
	Audience  oneOrMore `json:"aud"`
	Expires   *float64  `json:"exp"`
	NotBefore *float64  `json:"nbf"`
	IssuedAt  *float64  `json:"iat"`
	Scope     oneOrMore `json:"scope"`
	Scopes    oneOrMore `json:"scp"` // how some issuers call it

	own *ownClaims // of a token that says it is one of ours, or might be
}

// oneOrMore is one string or a list of them.
type oneOrMore []string

// UnmarshalJSON implements json.Unmarshaler.
func (s *oneOrMore) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(s))
	}
	var one string
	err := json.Unmarshal(raw, &one)
	*s = oneOrMore{one}
	return err
}

// readClaims reads a token's payload. The reader takes member names byte by byte and
// refuses one that comes twice: another reader, such as the upstream's, might take
// the other. mayBeOurs reads what our own tokens say in the same go; others may use
// the same names for something else.
func readClaims(payload []byte, mayBeOurs bool) (claims, bool) {
	if out, ok := plainClaims(payload, mayBeOurs); ok {
		return out, true
	}
	return allClaims(payload, mayBeOurs)
}

// allClaims reads any payload.
func allClaims(payload []byte, mayBeOurs bool) (claims, bool) {
	if mayBeOurs {
		var both struct {
			claims
			ownClaims
		}
		if json.Unmarshal(payload, &both) == nil {
			both.own = &both.ownClaims
			return both.claims, true
		}
	}
	var out claims
	err := json.Unmarshal(payload, &out)
	return out, err == nil
}

// issuer is the first of those that the token matches as a pair, nil for none.
func (c *claims) issuer(of []snapshot.TokenIssuer) *snapshot.TokenIssuer {
	for i := range of {
		if of[i].Issuer == c.Issuer && slices.Contains(c.Audience, of[i].Audience) {
			return &of[i]
		}
	}
	return nil
}

// holds tells whether the token is good at that time. One without an end is not:
// who finds it could use it for ever.
func (c *claims) holds(now time.Time) bool {
	at, off := float64(now.Unix()), leeway.Seconds()
	switch {
	case c.Expires == nil || *c.Expires+off <= at,
		c.NotBefore != nil && *c.NotBefore-off > at,
		c.IssuedAt != nil && *c.IssuedAt-off > at:
		return false
	}
	return true
}

// latestEnd bounds the exp of a token: beyond it a time.Time cannot be computed with.
const latestEnd = 1 << 40

// end is the token's exp, which holds has found to be there.
func (c *claims) end() time.Time { return time.Unix(int64(min(*c.Expires, latestEnd)), 0).UTC() }

// fill writes what the token says. What it says becomes headers of the upstream's
// request, so that text which a reader of headers would cut or trim is refused:
// the user would be another one there than here.
func (c *claims) fill(issuer *snapshot.TokenIssuer, into *policy.Token) policy.Denial {
	scopes, ok := policy.ReadScopes(append(slices.Clip(c.Scope), c.Scopes...)...)
	if !ok || !policy.IsSubject(c.Subject) {
		return policy.InvalidToken
	}
	*into = policy.Token{
		Issuer:  issuer.Issuer,
		Subject: c.Subject,
		Scopes:  scopes,
		Tenant:  issuer.Tenant,
		Expires: c.end().Add(leeway),
	}
	return policy.Denial{}
}
