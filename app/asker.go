package app

import (
	"net/http"

	"postern/egress"
	"postern/live"
	"postern/login"
)

// newAsker makes what shows callers' tokens to whoever issued them, through the guard:
// customers say where they are. It keeps as many connections as calls may wait, so
// that under load a call does not begin with a handshake.
func (a *App) newAsker(guard *egress.Guard, hosted *login.Service) *live.Asker {
	client := guard.Client()
	if transport, ok := client.Transport.(*http.Transport); ok {
		transport.MaxIdleConnsPerHost = live.MaxInside
	}
	return &live.Asker{Login: hosted, DB: a.state.db, Vault: a.vault, Client: client, Log: a.log}
}
