package bearer

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4/json"

	"postern/core/policy"
	"postern/core/snapshot"
)

// accessToken is the typ of our access tokens (RFC 9068, 4). An ID token has the same
// key and audience, but is for the app client only.
const accessToken = "at+jwt"

// ownClaims are the claims that only our tokens have.
type ownClaims struct {
	ID       string             `json:"jti"`
	Client   string             `json:"client_id"`
	Session  string             `json:"sid"`
	Tenant   string             `json:"tenant"`
	Groups   []string           `json:"groups"`
	AdminOf  []string           `json:"admin_of"`  // for exported gateways
	GroupsAt *float64           `json:"groups_at"` // when groups were read, where that is not iat
	Provider string             `json:"provider"`
	Carries  snapshot.TokenType `json:"upstream"`
	Sealed   string             `json:"upstream_token"`

	Truncated bool `json:"groups_truncated"`
}

// ownClient returns the app client whose issuer the token names, nil if no app client
// has that issuer.
func ownClient(of policy.AppClients, c *claims) *snapshot.AppClient {
	if of == nil {
		return nil
	}
	return of.Client(c.Issuer)
}

// ownKey returns the key that may have signed an access token of an app client: the
// one that its header names, if it is for the header's algorithm. No fetch is needed:
// the snapshot has keys before they sign.
func (v *Verifier) ownKey(client *snapshot.AppClient, head *header, now time.Time) *publicKey {
	if head.typ != accessToken {
		return nil
	}
	for i := range client.Keys {
		key := &client.Keys[i]
		if key.ID != head.keyID {
			continue
		}
		if !key.ExpiresAt.IsZero() && !key.ExpiresAt.After(now) {
			return nil
		}
		public := v.parseOwnKey(key.JWK)
		if public == nil || public.id != key.ID || public.algorithm != key.Algorithm {
			return nil
		}
		if !public.supports(head.algorithm) {
			return nil
		}
		return public
	}
	return nil
}

// parseOwnKey returns the public key in a JWK, nil if there is none. It parses each
// JWK once.
func (v *Verifier) parseOwnKey(jwk string) *publicKey {
	if known, ok := v.own.Load(jwk); ok {
		return known
	}
	keys := readKeys([]json.RawMessage{json.RawMessage(jwk)})
	if len(keys) != 1 {
		return nil
	}
	v.own.Store(jwk, keys[0])
	return keys[0]
}

// fillOwn sets into to the claims of an app client's token, whose signature has been
// verified. Its aud names the app client, for all projects of the tenant, or the audience
// of the project's API. Its exp has no leeway: our own clock wrote it.
func (r *reading) fillOwn(
	client *snapshot.AppClient, audience string, now time.Time, into *policy.Token,
) policy.Denial {
	c, own := &r.claims, r.claims.own
	switch {
	case own == nil,
		!slices.Contains(c.Audience, client.ID) && (audience == "" || !slices.Contains(c.Audience, audience)),
		own.Client != client.ID,
		own.Tenant != client.TenantID,
		*c.Expires <= float64(now.Unix()):
		return policy.InvalidToken
	}
	r.fill(&snapshot.TokenIssuer{Issuer: client.Issuer}, into)
	into.Expires = c.end()
	into.Hosted = policy.Hosted{
		Client:   client.ID,
		ID:       own.ID,
		Session:  own.Session,
		Provider: own.Provider,
		Groups:   own.Groups,
		Carries:  own.Carries,
		Sealed:   own.Sealed,

		Truncated: own.Truncated,
	}
	if at := cmp.Or(own.GroupsAt, c.IssuedAt); at != nil {
		into.GroupsAt = int64(min(*at, latestEnd))
	}
	return policy.Denial{}
}
