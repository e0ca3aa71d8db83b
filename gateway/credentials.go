package gateway

import (
	"strings"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
)

const authorizationHeader = "Authorization"

// Asker judges a bearer token that only whoever issued it can judge, by asking them;
// false for one that nobody of whom can have issued. What is said of Verifier holds
// for it too, but for the waiting: it asks on every call, and bounds how many wait for
// one that does not answer.
type Asker interface {
	Ask(token string, whom *policy.Asked, now time.Time, into *policy.Token) (denial policy.Denial, asked bool)
}

func (c *call) decide() policy.Decision {
	in := policy.Call{
		Access:      &c.route.version.access,
		Realm:       c.route.project.realm,
		Environment: c.route.environment.name,
		RemoteIP:    c.conn.addr,
		Consumers:   &c.space.consumers,
		Now:         c.start,
	}
	if in.Access.Allows(snapshot.APIKey) {
		n, key := c.carrier.keyLines()
		in.KeyLines = n
		if n == 1 {
			in.Key, in.OldSecret = c.presented(key)
		}
	}
	if in.Access.TakesTokens() {
		in.Token, in.TokenDenial = c.bearer()
		c.presentedToken = in.Token != nil
	}
	return policy.Decide(&in)
}

// presented is the key of that plaintext; nil for none. What has not the shape of a key
// is not looked up. The plaintext of the key that was found last has it: to compare the
// hashes is enough.
func (c *call) presented(plaintext string) (key *snapshot.Key, old bool) {
	if len(plaintext) > policy.MaxKey {
		return nil, false
	}
	last, hash := &c.space.key, policy.HashKey(plaintext)
	if hash != last.Hash && !policy.WellFormedKey(plaintext) {
		return nil, false
	}
	found, old := c.gateway.keys.Lookup(hash, last)
	if !found {
		return nil, false
	}
	c.presentedKey, c.secret = true, hash
	return last, old
}

// bearer judges the token of a call to a version that takes tokens: nil and the
// zero denial for a call without one. It is read from Authorization only (RFC 6750,
// 2.1): in a query it would end up in logs. Another scheme than Bearer is none of
// our business and goes on to the upstream. What becomes of a token that was judged
// is in the decision.
func (c *call) bearer() (*policy.Token, policy.Denial) {
	n, line := c.carrier.authorization()
	if n == 0 {
		return nil, policy.Denial{}
	}
	if n > 1 {
		return nil, policy.InvalidToken // the upstream may read another one than we
	}
	token, ok := bearerToken(line)
	if !ok {
		return nil, policy.Denial{}
	}
	c.space.token = policy.Token{}
	if denial, asked := c.ask(token); asked && denial != (policy.Denial{}) {
		return nil, denial
	} else if asked {
		return &c.space.token, policy.Denial{}
	}
	if !c.route.version.access.Allows(snapshot.JWT) {
		return nil, policy.InvalidToken
	}
	if c.gateway.verifier == nil {
		return nil, policy.IssuerUnavailable // what cannot be verified is not let through
	}
	if denial := c.gateway.verifier.Verify(token, policy.Issuers{
		Named: c.route.version.access.Issuers,
		Own:   &c.route,
	}, c.start, &c.space.token); denial != (policy.Denial{}) {
		return nil, denial
	}
	return &c.space.token, policy.Denial{}
}

// ask has a token judged by whoever issued it; false for one that nobody is asked
// about, which is the verifier's.
func (c *call) ask(token string) (denial policy.Denial, asked bool) {
	whom := c.route.version.asked
	if whom == nil {
		return policy.Denial{}, false
	}
	if c.gateway.asker == nil {
		return policy.TokenIssuerAway, true
	}
	return c.gateway.asker.Ask(token, whom, c.start, &c.space.token)
}

// bearerToken is the credential of a line with the scheme Bearer, whose name is
// read in any case (RFC 9110, 11.1).
func bearerToken(line string) (token string, ok bool) {
	const scheme = "Bearer"
	line = strings.Trim(line, " \t")
	if len(line) < len(scheme) || !strings.EqualFold(line[:len(scheme)], scheme) {
		return "", false
	}
	if token = line[len(scheme):]; token != "" && token[0] != ' ' && token[0] != '\t' {
		return "", false // a scheme whose name only begins so
	}
	return strings.TrimLeft(token, " \t"), true
}
