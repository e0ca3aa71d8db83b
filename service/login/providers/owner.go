package providers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"postern/platform/federation"
	"postern/service/login/verdict"
)

// vouching is how a kind answers for its own tokens, asked anew for each call.
type vouching interface {
	// shapes are what its opaque access tokens begin with, nil for nothing that is
	// documented.
	shapes() []string
	// issues tells whether a JSON Web Token that names the issuer can be its own.
	issues(s *Set, c Config, issuer string) bool
	// names is an issuer that its tokens name, "" for a kind without such tokens.
	names(s *Set, c Config) string
	// access finds who an access token was issued for, and refuses one that another
	// app got: whoever runs that app could be everybody who signed in to it.
	access(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error)
	// identity does so for an ID token.
	identity(ctx context.Context, s *Set, c Config, token string) (federation.Identity, error)
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
	if !verdict.Plain(token) {
		return federation.Identity{}, fmt.Errorf("%s: it is no token: %w", c.Type, verdict.ErrRefused)
	}
	ask := k.access
	if identity {
		ask = k.identity
	}
	person, err := ask(ctx, s, c, token)
	if err != nil {
		return federation.Identity{}, fmt.Errorf("%s: %w", c.Type, err)
	}
	person, ok = bounded(person)
	if !ok {
		return federation.Identity{}, fmt.Errorf("%s: it names nobody: %w", c.Type, verdict.ErrNonsense)
	}
	return person, nil
}

// IssuerOf is the issuer that a JSON Web Token names, which nobody has verified; false
// for an opaque token.
func IssuerOf(token string) (issuer string, jwt bool) {
	said, jwt := readToken(token)
	return said.Issuer, jwt
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
	if said, jwt := readToken(token); jwt {
		return said.Issuer != "" && k.issues(s, c, said.Issuer)
	}
	switch {
	case identity:
		return false
	case len(k.shapes()) > 0:
		return begins(token, k.shapes())
	}
	return shapeless(k) && !begins(token, everyShape())
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
		if a.Type == b.Type && len(ka.shapes()) > 0 || shapeless(ka) && shapeless(kb) {
			return true
		}
	}
	return meet(s, ka, a, kb, b) || meet(s, kb, b, ka, a)
}

func meet(s *Set, one kind, c Config, other kind, of Config) bool {
	named := other.names(s, of)
	return named != "" && one.issues(s, c, named)
}

// shapeless are the kinds whose opaque tokens can look like anything.
func shapeless(k kind) bool {
	switch k.(type) {
	case auth0, custom:
		return true
	}
	return false
}

// ofNoApp are tokens that no app gets from a login (GitHub's page names them with its
// others): nobody here issued one, and nobody may see one.
var ofNoApp = []string{"ghp_", "ghs_", "ghr_", "github_pat_"}

func everyShape() []string {
	all := slices.Clone(ofNoApp)
	for _, name := range order {
		if k, ok := kindOf(name); ok {
			all = append(all, k.shapes()...)
		}
	}
	return all
}

func begins(token string, shapes []string) bool {
	for _, shape := range shapes {
		if strings.HasPrefix(token, shape) {
			return true
		}
	}
	return false
}

// noIDTokens is for kinds that have none, nor other tokens that can be read.
type noIDTokens struct{}

func (noIDTokens) issues(*Set, Config, string) bool { return false }

func (noIDTokens) names(*Set, Config) string { return "" }

func (noIDTokens) identity(context.Context, *Set, Config, string) (federation.Identity, error) { //nolint:unparam // of an interface
	return federation.Identity{}, fmt.Errorf("it has no ID tokens: %w", verdict.ErrRefused)
}
