package gateway

import (
	"context"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

const authorizationHeader = "Authorization"

// Introspector checks a bearer token at its issuer's introspection endpoint. It returns introspected == false if none
// of the issuers could have issued the token. The requirements on Verifier apply, except that it contacts the issuer on
// every call. It limits the number of calls that wait for an unresponsive issuer.
type Introspector interface {
	Introspect(
		ctx context.Context, token string, from *policy.Introspectors, now time.Time, into *policy.Token,
	) (denial policy.Denial, introspected bool)
}

// authenticate applies the version's access policy to the caller's credentials.
func (c *call) authenticate(r *request) policy.Decision {
	in := policy.Call{
		Access:      &c.route.version.access,
		Realm:       c.route.project.realm,
		Environment: c.route.environment.name,
		Former:      c.route.environment.former,
		RemoteIP:    c.conn.addr,
		Rules:       c.route.version.rules,
		Method:      c.method,
		Path:        c.route.rest,
		Relations:   c.gateway.relations(),
		Consumers:   &c.cache.consumers,
		Now:         c.start,
	}
	key := ""
	if in.Access.Allows(snapshot.APIKey) {
		key = c.findKey(r, &in)
	}
	if r.authorization.n == 1 {
		in.Authorization = r.authorization.first
	}
	if in.Access.TakesTokens() && !c.keyInAuthorization {
		in.Token, in.TokenDenial = c.verifyToken(&r.authorization)
		c.presentedToken = in.Token != nil
	}
	decision := policy.Decide(&in)
	if decision.Allow && in.Key != nil && r.authorization.n > 0 && !in.Access.TakesTokens() {
		c.keyInAuthorization = c.keyInAuthorization || c.repeatsKey(r, key)
	}
	if decision.Allow && in.Key != nil && in.Places != nil {
		c.keyInDefaultPlace = c.keySource(r).keyHeaderHas(key)
	}
	if decision.Denial == policy.InvalidKey && in.Key != nil && c.gateway.table.Load() != c.route.table {
		return c.decideAgain(&in)
	}
	return decision
}

// decideAgain decides a call again whose key is refused by a table that was replaced after the route was found. The key
// may be limited to an environment by a name that only the new table has.
func (c *call) decideAgain(in *policy.Call) policy.Decision {
	_, at, ok := c.gateway.find(c.host, c.method, c.target, c.conn)
	if !ok {
		return policy.Decision{Denial: c.gateway.unrouted(at), StripKey: true}
	}
	c.route = at
	in.Access, in.Realm, in.Places = &at.version.access, at.project.realm, at.version.places
	in.Rules, in.Path = at.version.rules, at.rest
	in.Environment, in.Former = at.environment.name, at.environment.former
	return policy.Decide(in)
}

// lookUpKey returns the key with that plaintext, nil if there is none; old reports
// whether it is the secret before the last rotation. Text that can't be a
// key is not looked up. The key of the connection's last call passed that check, so
// only its hash is compared.
func (c *call) lookUpKey(plaintext string) (key *snapshot.Key, old bool) {
	imported := c.route.project.realm.ImportedKeys
	if len(plaintext) > policy.MaxKey && !imported {
		return nil, false
	}
	last, hash := &c.cache.key, policy.HashKey(plaintext)
	if hash != last.Hash && !policy.PossibleKey(plaintext, imported) {
		return nil, false
	}
	found, old := c.gateway.lookUp(c.route.project.realm, hash, last)
	if !found {
		return nil, false
	}
	c.presentedKey, c.secret = true, hash
	return last, old
}

// isImportedKey reports whether a text is a key of any form, valid or not, of a project that has imported some. Such a
// text must not be sent to an issuer as a token.
func (c *call) isImportedKey(text string) bool {
	if of := c.route.project.realm; !of.ImportedKeys || !policy.PossibleKey(text, true) {
		return false
	}
	var key snapshot.Key
	found, _ := c.gateway.lookUp(c.route.project.realm, policy.HashKey(text), &key)
	return found || c.isGone(text)
}

// isGone reports whether a text is a secret that an imported key of the project's team had: a key that was rotated, or
// was revoked and is removed.
func (c *call) isGone(text string) bool {
	of := c.route.project.realm
	if !of.ImportedKeys || !policy.PossibleKey(text, true) {
		return false
	}
	hash := policy.HashKey(text)
	return c.gateway.keys.Gone(of.TeamID, hash) || of.FormerTeam != "" && c.gateway.keys.Gone(of.FormerTeam, hash)
}

// lookUp finds a key of the project's team.
func (g *Gateway) lookUp(of *policy.Realm, hash [32]byte, into *snapshot.Key) (found, old bool) {
	found, old = g.keys.Lookup(of.TeamID, hash, into)
	if !found && of.FormerTeam != "" {
		return g.keys.Lookup(of.FormerTeam, hash, into)
	}
	return found, old
}

// verifyToken verifies the bearer token of a call to a version that accepts tokens. It returns nil and the zero denial
// for a call without one. Tokens are read from Authorization only (RFC 6750 section 2.1): in a query they would end up
// in logs. Credentials of other schemes are passed on to the upstream.
func (c *call) verifyToken(authorization *lines) (*policy.Token, policy.Denial) {
	if authorization.n == 0 {
		return nil, policy.Denial{}
	}
	if authorization.n > 1 {
		return nil, policy.InvalidToken // the upstream might read another line than the gateway
	}
	token, ok := policy.BearerToken(authorization.first)
	if !ok {
		return nil, policy.Denial{}
	}
	if policy.WellFormedKey(token) || c.isImportedKey(token) {
		return nil, c.places().Name(policy.MisplacedKey(&c.route.version.access))
	}
	c.cache.token = policy.Token{}
	if denial, introspected := c.introspect(token); introspected && denial != (policy.Denial{}) {
		return nil, denial
	} else if introspected {
		return &c.cache.token, policy.Denial{}
	}
	if !c.route.version.access.Allows(snapshot.JWT) {
		return nil, policy.InvalidToken
	}
	if c.gateway.verifier == nil {
		return nil, policy.IssuerUnavailable // tokens that cannot be verified are refused
	}
	issuers := policy.Issuers{
		Named:    c.route.version.access.Issuers(),
		Own:      &c.route,
		Audience: c.route.project.realm.Audience,
	}
	denial := c.gateway.verifier.Verify(c.context(), token, issuers, c.start, &c.cache.token)
	if denial != (policy.Denial{}) {
		return nil, denial
	}
	return &c.cache.token, policy.Denial{}
}

// introspect has the token's issuer check the token. introspected is false if no issuer introspects the
// token: then the verifier checks it.
func (c *call) introspect(token string) (denial policy.Denial, introspected bool) {
	from := c.route.version.introspectors
	if from == nil {
		return policy.Denial{}, false
	}
	if c.gateway.introspector == nil {
		return policy.TokenIssuerAway, true
	}
	return c.gateway.introspector.Introspect(c.context(), token, from, c.start, &c.cache.token)
}
