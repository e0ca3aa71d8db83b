package app

import (
	"net/http"

	"postern/platform/egress"
	"postern/service/introspection"
	"postern/service/login"
)

// newAsker makes what shows callers' tokens to whoever issued them, through the guard:
// customers say where they are. It keeps as many connections as calls may wait, so
// that under load a call does not begin with a handshake.
func (a *App) newAsker(guard *egress.Guard, hosted *login.Service) *introspection.Asker {
	client := guard.Client()
	if transport, ok := client.Transport.(*http.Transport); ok {
		transport.MaxIdleConnsPerHost = introspection.MaxInside
	}
	return &introspection.Asker{Login: hosted, DB: a.state.db, Vault: a.vault, Client: client, Log: a.log}
}
