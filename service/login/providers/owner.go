package providers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/platform/federation"
	"postern/service/login/tokencheck"
)

// tokenIssuer is how a kind answers for its own tokens, asked anew for each call.
type tokenIssuer interface {
	// prefixes are what its opaque access tokens begin with, nil for nothing that is
	// documented.
	prefixes() []string
	// issues tells whether a JSON Web Token that names the issuer can be its own.
	issues(s *Set, c Config, issuer string) bool
	// names is an issuer that its tokens name, "" for a kind without such tokens.
	names(s *Set, c Config) string
	// access finds who an access token was issued for, and refuses one that another
	// app got: whoever runs that app could be everybody who signed in to it.
	ownerOfAccess(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error)
	// identity does so for an ID token.
	ownerOfID(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error)
}

// Owner asks the provider whose a token is that its app got: an ID token where
// identity says so, and else an access token. The person has Issuer and Subject
// alone. Nothing of the token is kept, and errors do not hold it; one of package
// verdict's is in the chain of each.
func (s *Set) Owner(ctx context.Context, c Config, token string, identity bool) (federation.Identity, error) {
	k, ok := kindOf(c.Type)
	if !ok {
		return federation.Identity{}, fmt.Errorf("providers: there is no kind %q", c.Type)
	}
	if !tokencheck.Plain(token) {
		return federation.Identity{}, fmt.Errorf("%s: it is no token: %w", c.Type, tokencheck.ErrRefused)
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
		return federation.Identity{}, fmt.Errorf("%s: it names nobody: %w", c.Type, tokencheck.ErrBadAnswer)
	}
	return person, nil
}

// IssuerOf is the issuer that a JSON Web Token names, which nobody has verified; false
// for an opaque token.
func IssuerOf(token string) (issuer string, jwt bool) {
	claims, jwt := readToken(token)
	return claims.Issuer, jwt
}

// Recognizes tells by the looks of a token whether the provider may be asked about
// it. A JSON Web Token names its issuer; opaque tokens of some kinds have a shape;
// what has neither is for an issuer of the customer's own. It is not the provider's
// to see any other: whoever sees a token can use it.
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

// Confusable tells whether one token could be of both providers, so that nobody
// can say whom to ask.
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

// shapeless are the kinds whose opaque tokens can look like anything.
func isArbitrary(k kind) bool {
	switch k.(type) {
	case auth0, custom:
		return true
	}
	return false
}

// foreignPrefixes are tokens that no app gets from a login (GitHub's page names them with its
// others): nobody here issued one, and nobody may see one.
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

// noIDTokens is for kinds that have none, nor other tokens that can be read.
type noIDTokens struct{}

func (noIDTokens) issues(*Set, Config, string) bool { return false }

func (noIDTokens) names(*Set, Config) string { return "" }

func (noIDTokens) ownerOfID(context.Context, *Set, Config, string) (federation.Identity, error) { //nolint:unparam // of an interface
	return federation.Identity{}, fmt.Errorf("it has no ID tokens: %w", tokencheck.ErrRefused)
}
