package app

import (
	"postern/egress"
	"postern/login"
	"postern/login/providers"
)

// newLogin makes the hosted login. Whatever it asks of identity providers goes
// through the guard: customers say where they are.
func (a *App) newLogin(guard *egress.Guard) *login.Service {
	return &login.Service{
		DB: a.state.db, Vault: a.vault, Providers: &providers.Set{HTTP: guard.Client()}, Targets: guard, PublicURL: a.Config.PublicURL,
		Shared:  login.Shared(a.Config.LoginGitHub),
		Changed: a.feed.Changed, Log: a.log,
	}
}
