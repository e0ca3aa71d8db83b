package app

import (
	"log/slog"
	"net/http"
	"time"

	"postern/handlers"
	"postern/handlers/oidc"
	"postern/handlers/web"
	"postern/platform/metrics"
	"postern/service/accounts/federated"
)

type controlDeps struct {
	version   string
	signIns   []federated.Provider
	languages *oidc.Languages
	metrics   *metrics.Metrics
}

// newControl creates the control plane's HTTP handlers.
func (a *App) newControl(d controlDeps) *handlers.Server {
	s := a.services
	return &handlers.Server{
		Site: &web.Site{
			Config:   a.Config,
			Accounts: s.accounts,
			Tokens:   s.tokens,
			Refusals: a.refusals,
			Log:      a.log,
			Measure:  d.metrics.Request,
			Traces:   a.traces,
		},
		Version:      d.version,
		Ready:        a.ready,
		GatewayReady: a.probed,
		Roles:        a.Config.Roles.String(),
		Attached:     a.attached.Load,
		Providers:    d.signIns,
		Exports:      s.exports,
		Keys:         s.keys,
		Projects:     s.projects,
		Relations:    s.relations,
		Diagnostics:  s.diagnostics,
		Usage:        s.usage,
		Idempotency:  s.idempotency,
		Imports:      s.imports,
		Plans:        s.plans,
		Audit:        s.audit,
		Webhooks:     s.webhooks,
		AppClients:   s.appClients,
		Login:        s.login,
		Languages:    d.languages,
		Directory:    s.directory,
		Domains:      s.domains,
		Metrics:      d.metrics.Handler(),
	}
}

// newControlServer creates the control plane's server. It keeps the connections that
// wait for a request in idle.
func (a *App) newControlServer(handler http.Handler, idle *waiting) *http.Server {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
		ConnState:         idle.note,
	}
	server.RegisterOnShutdown(a.usage.EndFollowers) // or Shutdown would wait for them
	server.RegisterOnShutdown(a.services.exports.Followers.End)
	return server
}
