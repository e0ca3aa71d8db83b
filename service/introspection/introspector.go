// Package introspection checks callers' tokens with their issuer on every call: tokens of
// hosted login's providers, and opaque tokens (RFC 7662). It keeps no token and no answer.
//
// It owns the choice of the issuer, the limits on time and concurrency per issuer, and the denial that follows. It
// leaves requests to login/providers and login/tokencheck, users to login and directory, and what a token allows to
// core/policy.
package introspection

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"postern/core/policy"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/login"
	"postern/service/login/providers"
	"postern/service/login/tokencheck"
)

// Bounds on asking an issuer.
const (
	askWithin = 5 * time.Second
	MaxInside = 200      // calls that wait for one issuer at a time
	maxToken  = 16 << 10 // bytes, as in gateway/bearer
)

// Introspector asks issuers about tokens. Client must be the guarded one of package egress,
// which follows no redirect, because customers configure the endpoints.
type Introspector struct {
	Login  *login.Service // finds the owner of a provider's token
	DB     *models.DB
	Vault  *secrets.Vault
	Client *http.Client
	Log    *slog.Logger
	Within time.Duration // for all requests of one call; 0 means 5 s

	waiting callsByIssuer
}

// Introspect checks a token with the issuer that can have issued it. It returns false if none of them can, in which
// case the token was sent to no issuer. The zero denial means that the token is valid; its owner is then written into
// out. ctx has the call's trace, and does not end with the call.
func (a *Introspector) Introspect(
	ctx context.Context, token string, issuers *policy.Introspectors, now time.Time, out *policy.Token,
) (denial policy.Denial, introspected bool) {
	if len(token) > maxToken || !tokencheck.Plain(token) {
		return policy.InvalidToken, true
	}
	issuer, jwt := providers.IssuerOf(token)
	if jwt && issuers.VerifiedByKeys(issuer) {
		return policy.Denial{}, false
	}
	if provider, found := a.recognize(token, issuers); found {
		// With an introspection endpoint, an opaque token without a known prefix may be that
		// endpoint's as well.
		if provider == nil || issuers.EndpointVersion != "" && !jwt && a.looksLike("opaque", provider) {
			return policy.InvalidToken, true
		}
		return a.limited(ctx, provider.ID, func(ctx context.Context) error {
			return a.askProvider(ctx, provider, token, out)
		}), true
	}
	if issuers.EndpointVersion == "" {
		return policy.Denial{}, false
	}
	return a.limited(ctx, issuers.EndpointVersion, func(ctx context.Context) error {
		return a.askEndpoint(ctx, issuers.EndpointVersion, token, now, out)
	}), true
}

// limited runs ask unless MaxInside calls wait for the issuer already: one that does not
// answer must not hold up calls to the others.
func (a *Introspector) limited(ctx context.Context, issuer string, ask func(context.Context) error) policy.Denial {
	if !a.waiting.enter(issuer) {
		return policy.TokenIssuerAway
	}
	defer a.waiting.leave(issuer)
	ctx, stop := context.WithTimeout(ctx, cmp.Or(a.Within, askWithin))
	defer stop()
	err := ask(ctx)
	if err == nil {
		return policy.Denial{}
	}
	denial := denialOf(err)
	if denial != policy.InvalidToken {
		a.Log.WarnContext(ctx, "could not check a token", "asked", issuer, "error", err.Error())
	}
	return denial
}

func denialOf(err error) policy.Denial {
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Code == "user_frozen" {
		return policy.UserFrozen
	} else if ok && refusal.Kind == fault.NotFound {
		return policy.InvalidToken // the provider or its app client has been deleted
	}
	switch {
	case errors.Is(err, tokencheck.ErrRefused):
		return policy.InvalidToken
	case errors.Is(err, tokencheck.ErrBadAnswer):
		return policy.TokenIssuerNonsense
	case errors.Is(err, tokencheck.ErrUnverifiable):
		return policy.UnverifiableToken
	}
	return policy.TokenIssuerAway // tokencheck.ErrUnavailable, and errors of our own database
}

// callsByIssuer counts the calls that wait for each issuer. Its zero value is ready.
type callsByIssuer struct {
	mu    sync.Mutex
	count map[string]int
}

func (c *callsByIssuer) enter(issuer string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count[issuer] >= MaxInside {
		return false
	}
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[issuer]++
	return true
}

func (c *callsByIssuer) leave(issuer string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count[issuer]--; c.count[issuer] == 0 {
		delete(c.count, issuer)
	}
}
