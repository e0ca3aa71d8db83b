package bearer

import (
	"encoding/json"
	"slices"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

// accessToken is the one typ that a token of ours has as an access token (RFC 9068,
// 4). An ID token is signed by the same key for the same audience, and is for the
// client's eyes only.
const accessToken = "at+jwt"

// ownClaims are those that our tokens have beside the claims of others.
type ownClaims struct {
	ID       string             `json:"jti"`
	Client   string             `json:"client_id"`
	Tenant   string             `json:"tenant"`
	Groups   []string           `json:"groups"`
	Provider string             `json:"provider"`
	Carries  snapshot.TokenType `json:"upstream"`
	Sealed   string             `json:"upstream_token"`
}

// ownClient is the app client that issued a token, nil where its issuer is another's.
func ownClient(of policy.AppClients, said *claims) *snapshot.AppClient {
	if of == nil {
		return nil
	}
	return of.Client(said.Issuer)
}

// ownKey is the one key that may have signed an access token of an app client: the
// one that it names, for the algorithm that the key is for. It is known without asking
// anybody: the snapshot brings keys before they sign.
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
		public := v.parsed(key.JWK)
		if public == nil || public.id != key.ID || public.algorithm != key.Algorithm || !public.isFor(head.algorithm) {
			return nil
		}
		return public
	}
	return nil
}

// parsed reads a key once: the same text is the same key for ever.
func (v *Verifier) parsed(jwk string) *publicKey {
	if known, ok := v.own.Load(jwk); ok {
		return known.(*publicKey)
	}
	keys := readKeys([]json.RawMessage{json.RawMessage(jwk)})
	if len(keys) != 1 {
		return nil
	}
	v.own.Store(jwk, &keys[0])
	return &keys[0]
}

// fillOwn writes what a token of an app client says, whose signature holds. Its end
// has no leeway: it is our own clock that wrote it.
func (c *claims) fillOwn(client *snapshot.AppClient, now time.Time, into *policy.Token) policy.Denial {
	own := c.own
	if own == nil || !slices.Contains(c.Audience, client.ID) || own.Client != client.ID ||
		own.Tenant != client.TenantID ||
		*c.Expires <= float64(now.Unix()) {
		return policy.InvalidToken
	}
	if denial := c.fill(&snapshot.TokenIssuer{Issuer: client.Issuer}, into); denial != (policy.Denial{}) {
		return denial
	}
	into.Expires = c.end()
	into.Hosted = policy.Hosted{
		Client:   client.ID,
		ID:       own.ID,
		Provider: own.Provider,
		Groups:   policy.ListedGroups(own.Groups),
		Carries:  own.Carries,
		Sealed:   own.Sealed,
	}
	return policy.Denial{}
}
