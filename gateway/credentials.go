package gateway

import (
	"strings"

	"postern/policy"
	"postern/snapshot"
)

const authorizationHeader = "Authorization"

func (c *call) decide() policy.Decision {
	in := policy.Call{
		Access:      &c.route.version.access,
		Realm:       c.route.project.realm,
		Environment: c.route.environment.name,
		RemoteIP:    c.conn.addr,
		Now:         c.start,
	}
	if in.Access.Allows(snapshot.APIKey) {
		n, key := c.carrier.keyLines()
		in.KeyLines = n
		if n == 1 && policy.WellFormedKey(key) {
			var found bool
			if found, in.OldSecret = c.gateway.keys.Lookup(policy.HashKey(key), &c.key); found {
				in.Key = &c.key
			}
		}
	}
	if in.Access.Allows(snapshot.JWT) {
		in.Token, in.TokenDenial = c.bearer()
	}
	return policy.Decide(&in)
}

// bearer judges the token of a call to a version that takes tokens: nil and the
// zero denial for a call without one. It is read from Authorization only (RFC 6750,
// 2.1): in a query it would end up in logs. Another scheme than Bearer is none of
// our business and goes on to the upstream, and so does a token that was judged:
// the upstream may want to look at it too.
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
	if c.gateway.verifier == nil {
		return nil, policy.IssuerUnavailable // what cannot be verified is not let through
	}
	if denial := c.gateway.verifier.Verify(token, c.route.version.access.Issuers, c.start, &c.token); denial != (policy.Denial{}) {
		return nil, denial
	}
	return &c.token, policy.Denial{}
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
