package app

import (
	"context"
	"time"

	"postern/platform/egress"
	"postern/service/login"
	"postern/service/login/providers"
)

// newLogin makes the hosted login. Whatever it asks of identity providers goes
// through the guard: customers say where they are.
func (a *App) newLogin(guard *egress.Guard) *login.Service {
	return &login.Service{
		DB:           a.state.db,
		Vault:        a.vault,
		Providers:    &providers.Set{HTTP: guard.Client()},
		Targets:      guard,
		PublicURL:    a.Config.PublicURL,
		Shared:       login.Shared(a.Config.LoginGitHub),
		Changed:      func(ctx context.Context) { a.feed.Changed(ctx) }, // which is made later
		Log:          a.log,
		CapUnclaimed: a.Config.CapsHold(),
	}
}

// opener gives the gateway the providers' tokens that go to upstreams.
type opener struct{ login *login.Service }

// openWithin bounds the one look for a team's data key.
const openWithin = 2 * time.Second

// Open implements gateway.Opener.
func (o opener) Open(tokenID, sealed string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), openWithin)
	defer stop()
	token, err := o.login.UpstreamToken(ctx, tokenID, sealed)
	return token.Reveal(), err
}
