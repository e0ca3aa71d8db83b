package bearer

import (
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/json"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/exactjson"
)

// leeway is the tolerated difference between an issuer's clock and ours.
const leeway = 60 * time.Second

// claims are the claims of a token that Verify reads (RFC 7519, 4.1; RFC 8693, 4.2).
// Times are seconds since 1970 and may have a fraction; nil is absent.
type claims struct {
	Issuer    string    `json:"iss"`
	Subject   string    `json:"sub"`
	Audience  oneOrMore `json:"aud"`
	Expires   *float64  `json:"exp"`
	NotBefore *float64  `json:"nbf"`
	IssuedAt  *float64  `json:"iat"`
	Scope     oneOrMore `json:"scope"`
	Scopes    oneOrMore `json:"scp"` // the name that some issuers use for scope

	own *ownClaims // nil if the token can't be one of ours
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

// readClaims parses a token's payload. It compares member names byte by byte and
// refuses duplicates: another parser, such as the upstream's, could read the other
// one. With mayBeOurs it also parses the claims of our own tokens; in the tokens of
// other issuers these names may mean something else.
func readClaims(payload []byte, mayBeOurs bool) (claims, bool) {
	if out, ok := plainClaims(payload, mayBeOurs); ok {
		return out, true
	}
	return allClaims(payload, mayBeOurs)
}

// allClaims parses any payload.
func allClaims(payload []byte, mayBeOurs bool) (claims, bool) {
	if mayBeOurs {
		var both struct {
			claims
			ownClaims
		}
		if exactjson.Unmarshal(payload, &both) == nil {
			both.own = &both.ownClaims
			return both.claims, true
		}
	}
	var out claims
	err := exactjson.Unmarshal(payload, &out)
	return out, err == nil
}

// issuer returns the first pair whose issuer and audience the token matches, nil if it
// matches none.
func (c *claims) issuer(of []snapshot.TokenIssuer) *snapshot.TokenIssuer {
	for i := range of {
		if of[i].Issuer == c.Issuer && slices.Contains(c.Audience, of[i].Audience) {
			return &of[i]
		}
	}
	return nil
}

// validAt reports whether the token is valid at now, by its exp, nbf and iat. A token
// without exp is not: a stolen one could be used forever.
func (c *claims) validAt(now time.Time) bool {
	at, off := float64(now.Unix()), leeway.Seconds()
	switch {
	case c.Expires == nil || *c.Expires+off <= at,
		c.NotBefore != nil && *c.NotBefore-off > at,
		c.IssuedAt != nil && *c.IssuedAt-off > at:
		return false
	}
	return true
}

// latestEnd bounds exp, in seconds since 1970, so that time.Time can compute with it.
const latestEnd = 1 << 40

// end returns the token's exp. validAt has checked that there is one.
func (c *claims) end() time.Time { return time.Unix(int64(min(*c.Expires, latestEnd)), 0).UTC() }

// reading is a parsed token. Calls share it, so it never changes.
type reading struct {
	head      header
	claims    claims
	mayBeOurs bool     // see readClaims
	scopes    []string // of scope and scp
}

// readPayload returns the claims of a token with that header and payload. It returns false for one that can't be read,
// or whose subject or scopes cannot be sent to the upstream in a header; see policy.IsSubject.
func readPayload(payload []byte, head header, mayBeOurs bool) (*reading, bool) {
	out := &reading{head: head, mayBeOurs: mayBeOurs}
	var ok bool
	if out.claims, ok = readClaims(payload, mayBeOurs); !ok || !policy.IsSubject(out.claims.Subject) {
		return nil, false
	}
	if own := out.claims.own; own != nil {
		own.Groups = policy.ListedGroups(own.Groups)
	}
	out.scopes, ok = policy.ReadScopes(append(slices.Clip(out.claims.Scope), out.claims.Scopes...)...)
	return out, ok
}

// fill sets into to the claims.
func (r *reading) fill(issuer *snapshot.TokenIssuer, into *policy.Token) {
	*into = policy.Token{
		Issuer:  issuer.Issuer,
		Subject: r.claims.Subject,
		Scopes:  r.scopes,
		Tenant:  issuer.Tenant,
		Expires: r.claims.end().Add(leeway),
	}
}
