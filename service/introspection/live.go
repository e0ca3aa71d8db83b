// Package introspection judges tokens of callers that only whoever issued them can judge, by
// asking on every call: the own tokens of providers that people sign in with, and
// opaque tokens of a version's issuer.
//
// It owns whom a token is shown to, how long and by how many calls at a time one who
// is asked may be waited for, and what becomes of the answer. It does not own how the
// question is put (login/providers, login/tokencheck), who a person is to a tenant
// (login, directory), nor what a good token opens (policy). It keeps
// nothing of a token, and no answer: what was true of one call says nothing of the
// next.
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

// The bounds of asking.
const (
	askWithin = 5 * time.Second
	MaxInside = 200      // calls that wait for one of those who are asked
	maxToken  = 16 << 10 // bytes, as where tokens are verified by keys
)

// Asker asks. Client has to be the guarded one of package egress, which follows no
// redirect: customers say where it leads.
type Asker struct {
	Login  *login.Service // knows providers and their people
	DB     *models.DB
	Vault  *secrets.Vault
	Client *http.Client
	Log    *slog.Logger
	Within time.Duration // for everything that one call waits for here; 0: 5 s

	doors doors
}

// Ask judges a token by whoever of those can have issued it; false: none of them, so
// that it was shown to nobody. The zero denial means that it is good: into has then
// whose it is.
func (a *Asker) Ask(
	token string, whom *policy.Introspectors, now time.Time, into *policy.Token,
) (denial policy.Denial, asked bool) {
	if len(token) > maxToken || !tokencheck.Plain(token) {
		return policy.InvalidToken, true
	}
	issuer, jwt := providers.IssuerOf(token)
	if jwt && whom.VerifiedByKeys(issuer) {
		return policy.Denial{}, false
	}
	if provider, found := a.recognize(token, whom); found {
		// Where an endpoint is asked about opaque tokens, one without a shape may be of
		// its issuer's as well.
		if provider == nil || whom.EndpointVersion != "" && !jwt && a.looksLike("opaque", provider) {
			return policy.InvalidToken, true
		}
		return a.behind(
			provider.ID, func(ctx context.Context) error { return a.present(ctx, provider, token, into) },
		), true
	}
	if whom.EndpointVersion == "" {
		return policy.Denial{}, false
	}
	return a.behind(
		whom.EndpointVersion,
		func(ctx context.Context) error { return a.introspect(ctx, whom.EndpointVersion, token, now, into) },
	), true
}

// behind asks unless too many do already: who does not answer must keep nobody from
// those who do.
func (a *Asker) behind(door string, ask func(context.Context) error) policy.Denial {
	if !a.doors.enter(door) {
		return policy.TokenIssuerAway
	}
	defer a.doors.leave(door)
	ctx, stop := context.WithTimeout(
		context.Background(), cmp.Or(a.Within, askWithin),
	) // a call has no context of its own
	defer stop()
	err := ask(ctx)
	if err == nil {
		return policy.Denial{}
	}
	denial := denialOf(err)
	if denial != policy.InvalidToken {
		a.Log.Warn("a token cannot be judged", "asked", door, "error", err.Error())
	}
	return denial
}

func denialOf(err error) policy.Denial {
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Code == "user_frozen" {
		return policy.UserFrozen
	} else if ok && refusal.Kind == fault.NotFound {
		return policy.InvalidToken // the provider or its app client was taken away meanwhile
	}
	switch {
	case errors.Is(err, tokencheck.ErrRefused):
		return policy.InvalidToken
	case errors.Is(err, tokencheck.ErrBadAnswer):
		return policy.TokenIssuerNonsense
	case errors.Is(err, tokencheck.ErrUnverifiable):
		return policy.UnverifiableToken
	}
	return policy.TokenIssuerAway // tokencheck.ErrUnavailable, and whatever is wrong with ourselves
}

// doors count the calls that wait for each of those who are asked.
type doors struct {
	mu     sync.Mutex
	inside map[string]int
}

func (d *doors) enter(door string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside[door] >= MaxInside {
		return false
	}
	if d.inside == nil {
		d.inside = map[string]int{}
	}
	d.inside[door]++
	return true
}

func (d *doors) leave(door string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.inside[door]--; d.inside[door] == 0 {
		delete(d.inside, door)
	}
}
