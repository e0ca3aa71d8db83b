package providers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// tokenIssuer recognizes a kind's own tokens, and finds their owners by asking the
// provider on every call.
type tokenIssuer interface {
	// prefixes are those of its opaque access tokens, nil if none are documented.
	prefixes() []string
	// issues reports whether a JSON Web Token with the issuer can be its own.
	issues(s *Set, c Config, issuer string) bool
	// names returns an issuer that its tokens have, "" for a kind without such tokens.
	names(s *Set, c Config) string
	// ownerOfAccess returns the user of an access token. It refuses a token that was issued
	// to another app, whose operator could otherwise impersonate all its users.
	ownerOfAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error)
	// ownerOfID does so for an ID token.
	ownerOfID(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error)
}

// Owner asks the provider who owns a token that it issued to the configured app: an ID
// token if identity is set, otherwise an access token. The result has Issuer and Subject
// only. The token is not kept. Each error wraps one of package tokencheck's, and does not
// contain the token.
func (s *Set) Owner(ctx context.Context, c Config, token string, identity bool) (federation.Identity, error) {
	k, ok := kindOf(c.Type)
	if !ok {
		return federation.Identity{}, fmt.Errorf("providers: unknown type %q", c.Type)
	}
	if !tokencheck.Plain(token) {
		return federation.Identity{}, fmt.Errorf("%s: malformed token: %w", c.Type, tokencheck.ErrRefused)
	}
	ask := k.ownerOfAccess
	if identity {
		ask = k.ownerOfID
	}
	person, err := ask(ctx, s, c, token)
	if err != nil {
		return federation.Identity{}, fmt.Errorf("%s: %w", c.Type, err)
	}
	person, ok = bounded(person)
	if !ok {
		return federation.Identity{}, fmt.Errorf("%s: no usable subject: %w", c.Type, tokencheck.ErrBadAnswer)
	}
	return person, nil
}

// IssuerOf returns the issuer in a JSON Web Token, which is not verified, and false for an
// opaque token.
func IssuerOf(token string) (issuer string, jwt bool) {
	claims, jwt := readToken(token)
	return claims.Issuer, jwt
}

// Recognizes reports, by the form of a token, whether the provider may be asked about it.
// A JSON Web Token names its issuer; opaque tokens of some kinds have a prefix; all others
// go to an issuer that the customer configured. A token must not be shown to another
// provider, which could use it.
func (s *Set) Recognizes(c Config, token string, identity bool) bool {
	k, ok := kindOf(c.Type)
	if !ok {
		return false
	}
	if claims, jwt := readToken(token); jwt {
		return claims.Issuer != "" && k.issues(s, c, claims.Issuer)
	}
	switch {
	case identity:
		return false
	case len(k.prefixes()) > 0:
		return hasPrefix(token, k.prefixes())
	}
	return isArbitrary(k) && !hasPrefix(token, allPrefixes())
}

// Confusable reports whether one token could have been issued by either provider.
func (s *Set) Confusable(a, b Config, aIdentity, bIdentity bool) bool {
	ka, okA := kindOf(a.Type)
	kb, okB := kindOf(b.Type)
	if !okA || !okB {
		return false
	}
	if !aIdentity && !bIdentity {
		if a.Type == b.Type && len(ka.prefixes()) > 0 || isArbitrary(ka) && isArbitrary(kb) {
			return true
		}
	}
	return issuesFor(s, ka, a, kb, b) || issuesFor(s, kb, b, ka, a)
}

func issuesFor(s *Set, one kind, c Config, other kind, of Config) bool {
	named := other.names(s, of)
	return named != "" && one.issues(s, c, named)
}

// isArbitrary reports whether opaque tokens of the kind can have any form.
func isArbitrary(k kind) bool {
	switch k.(type) {
	case auth0, custom:
		return true
	}
	return false
}

// foreignPrefixes are those of GitHub's tokens that no app gets from a sign-in. They are
// shown to no provider.
var foreignPrefixes = []string{"ghp_", "ghs_", "ghr_", "github_pat_"}

func allPrefixes() []string {
	all := slices.Clone(foreignPrefixes)
	for _, name := range order {
		if k, ok := kindOf(name); ok {
			all = append(all, k.prefixes()...)
		}
	}
	return all
}

func hasPrefix(token string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(token, prefix) {
			return true
		}
	}
	return false
}

// noIDTokens is embedded by kinds whose tokens are all opaque.
type noIDTokens struct{}

func (noIDTokens) issues(*Set, Config, string) bool { return false }

func (noIDTokens) names(*Set, Config) string { return "" }

//nolint:unparam // of an interface
func (noIDTokens) ownerOfID(context.Context, *Set, Config, string) (federation.Identity, error) {
	return federation.Identity{}, fmt.Errorf("it has no ID tokens: %w", tokencheck.ErrRefused)
}
