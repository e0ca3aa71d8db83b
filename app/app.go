// Package app wires the packages together into one running server, the same for
// the command line and for the end-to-end tests.
//
// It owns construction, start and stop, and nothing else: no rule, no route.
package app

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"postern/gateway"
	"postern/gateway/bearer"
	"postern/handlers"
	"postern/handlers/web"
	"postern/jobs"
	"postern/platform/certs"
	"postern/platform/config"
	"postern/platform/egress"
	"postern/platform/metrics"
	"postern/platform/secrets"
	"postern/service/accounts"
	"postern/service/accounts/provider"
	"postern/service/audit"
	"postern/service/directory"
	"postern/service/exports"
	"postern/service/idempotency"
	"postern/service/keys"
	"postern/service/login"
	"postern/service/projects"
	"postern/service/ratelimit"
	"postern/service/retention"
	"postern/service/tokens"
	"postern/service/usage"
	"postern/service/webhooks"
)

// App is a server that listens already and serves between Run and the end of its
// context.
type App struct {
	Config    config.Config // with the addresses that the listeners really have
	FirstLink string        // one-time sign-in link while there is no account, else ""

	log       *slog.Logger
	listeners listeners
	state     *state
	vault     *secrets.Vault
	control   *http.Server
	plane     *gateway.Gateway
	bearer    *bearer.Verifier
	gateway   *gateway.Server
	feed      *projects.Feed
	people    *accounts.Service
	exports   *exports.Service
	queue     *jobs.Queue
	usage     *usage.Recorder
	limiter   limiter
	keeper    *ratelimit.Keeper // nil: Redis keeps what the limiter counts
	refusals  *audit.Refusals
	pairs     []*certs.Pair
	probes    http.Handler // on the gateway's listener
	attached  atomic.Bool  // the database is reached, and its state is served
	running   atomic.Bool
	starting  sync.Mutex // keeps work from being started once stopping is set
	stopping  atomic.Bool
}

// New opens the listeners, the database and everything above it. Its errors are
// one line that says what to do about them. An App that is not run is closed with Close.
func New(ctx context.Context, c config.Config, version string, log *slog.Logger) (*App, error) {
	log = bounded(log)
	doors, c, err := listen(ctx, c)
	if err != nil {
		return nil, err
	}
	state, err := openState(ctx, c)
	if err != nil {
		return nil, errors.Join(err, doors.close())
	}
	a := &App{Config: c, log: log, listeners: doors, state: state}
	if err := a.wire(version); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if err := a.start(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	warnOfShares(a.Config, descriptors(), a.log)
	return a, nil
}

// parts are what only the wiring needs of what it creates.
type parts struct {
	guard    *egress.Guard
	measured *metrics.Metrics
	login    *login.Service
	webhooks *webhooks.Service
	signIns  []provider.Provider
	idle     *waiting // connections to the control plane
	secure   *tls.Config
}

// wire creates all parts. It does not use the database.
func (a *App) wire(version string) (err error) {
	p := parts{signIns: provider.FromConfig(a.Config.SignIn), idle: &waiting{}}
	if p.guard, err = newGuard(a.Config); err != nil {
		return err
	}
	if a.vault, err = openVault(a.Config); err != nil {
		return err
	}
	a.listeners.control = boundControl(a.listeners.control, a.Config, descriptors(), p.idle, a.log)
	if p.secure, err = a.secure(); err != nil {
		return err
	}
	if a.limiter, err = a.newLimiter(); err != nil {
		return err
	}
	a.refusals = &audit.Refusals{DB: a.state.db, Log: a.log}
	a.usage = usage.NewRecorder(a.state.db, a.log)
	a.bearer = bearer.New(p.guard.Client(), a.log)
	p.measured = a.newMetrics()
	p.login = a.newLogin(p.guard)
	p.webhooks = newWebhooks(a.state.db, a.vault, p.guard, a.log)
	a.newGateway(p)
	a.people = &accounts.Service{
		DB:          a.state.db,
		Changed:     a.feed.Changed,
		Policy:      a.Config.SignUp,
		Events:      p.webhooks,
		ProvesEmail: len(p.signIns) > 0,
	}
	if err := a.newExports(version, p.webhooks, p.login); err != nil {
		return err
	}
	a.newControl(version, p)
	return nil
}

// newGateway creates the gateway, the table of keys that it looks calls up in, and the
// feed that keeps both current.
func (a *App) newGateway(p parts) {
	table := keys.NewTable()
	a.plane = gateway.New(gateway.Options{
		Domain:    a.Config.GatewayDomain,
		Host:      a.Config.GatewayHost(),
		Keys:      table,
		Verifier:  a.bearer,
		Asker:     a.newAsker(p.guard, p.login),
		Opener:    opener{p.login},
		Observer:  observer{a.usage, p.measured},
		Limiter:   a.limiter,
		Dial:      p.guard.DialContext,
		Caps:      caps(a.Config),
		Logger:    a.log,
		CallerTLS: p.secure,
		Probes:    http.HandlerFunc(a.probe),
		Trusted:   a.Config.Trusted,
		Limits:    callers(a.Config, descriptors()),
	})
	a.gateway = a.plane.Server(a.Config.GatewayAddr)
	a.feed = &projects.Feed{
		DB:        a.state.db,
		Keys:      table,
		PublicURL: a.Config.PublicURL,
		Publish:   a.plane.Publish,
		Log:       a.log,
	}
}

// probe answers probes on the gateway's listener. Their handler is created after the
// gateway.
func (a *App) probe(w http.ResponseWriter, r *http.Request) { a.probes.ServeHTTP(w, r) }

// newControl creates the control plane's server.
func (a *App) newControl(version string, p parts) {
	db, changed := a.state.db, a.feed.Changed
	control := &handlers.Server{
		Site: &web.Site{
			Config:   a.Config,
			Accounts: a.people,
			Tokens:   &tokens.Service{DB: db},
			Refusals: a.refusals,
			Log:      a.log,
		},
		Version:      version,
		Ready:        a.ready,
		GatewayReady: a.gatewayReady,
		Attached:     a.attached.Load,
		Providers:    p.signIns,
		Exports:      a.exports,
		Keys:         &keys.Service{DB: db, Prefix: a.Config.KeyPrefix, Changed: changed, Events: p.webhooks},
		Projects:     a.newProjects(p),
		Usage:        &usage.Service{DB: db, Recorder: a.usage},
		Idempotency:  &idempotency.Service{DB: db},
		Audit:        &audit.Service{DB: db},
		Webhooks:     p.webhooks,
		Login:        p.login,
		Directory:    &directory.Service{DB: db, Changed: changed, Events: p.webhooks},
		Metrics:      p.measured.Handler(),
	}
	a.control = &http.Server{
		Handler:           control.Handler(),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(a.log.Handler(), slog.LevelDebug),
		ConnState:         p.idle.note,
	}
	a.control.RegisterOnShutdown(a.usage.EndFollowers) // or Shutdown would wait for them
	a.probes = control.Probes()
}

func (a *App) newProjects(p parts) *projects.Service {
	return &projects.Service{
		DB:           a.state.db,
		Targets:      p.guard,
		Vault:        a.vault,
		Suits:        p.login.Suits,
		Log:          a.log,
		PublicURL:    a.Config.PublicURL,
		KeyPrefix:    a.Config.KeyPrefix,
		UnclaimedTTL: a.Config.UnclaimedTTL,
		CapUnclaimed: a.Config.CapsHold(),
		Changed:      a.feed.Changed,
		Events:       p.webhooks,
	}
}

// newExports creates the export service and the queue, which refer to each other, as
// do the webhooks and the queue: the one inserts jobs, the other works on them.
func (a *App) newExports(version string, hooks *webhooks.Service, hosted *login.Service) error {
	files := a.exportFiles()
	a.exports = &exports.Service{
		DB:        a.state.db,
		Store:     files,
		TTL:       a.Config.ExportTTL,
		AddressOf: a.Config.Address,
		PublicURL: a.Config.PublicURL,
		Generator: "postern " + version,
		Vault:     a.vault,
		Log:       a.log,
		Events:    hooks,
	}
	ends := &retention.Service{
		DB:      a.state.db,
		Files:   files,
		Grace:   a.Config.UnclaimedGrace,
		Changed: a.feed.Changed,
		Log:     a.log,
	}
	var err error
	a.queue, err = jobs.New(a.state.db, a.exports, quiet(a.log),
		jobs.Purges(ends), jobs.Deliveries(hooks, webhookSchedule), jobs.LoginUpkeep(hosted))
	if err != nil {
		return err
	}
	a.exports.Jobs, hooks.Jobs = a.queue, a.queue
	return nil
}

func (a *App) exportFiles() exports.Dir { return exports.Dir(a.Config.ExportDir()) }

func caps(c config.Config) *gateway.Caps {
	if !c.CapsHold() {
		return nil
	}
	return &gateway.Caps{}
}

func newGuard(c config.Config) (*egress.Guard, error) {
	return egress.New(egress.Options{
		Allow:           c.EgressAllow,
		LoopbackAllowed: c.LoopbackOnly(),
		Listeners:       []string{c.ControlAddr, c.GatewayAddr},
		Names:           c.OwnNames(),
		Domains:         c.OwnDomains(),
	})
}

// Close releases what New opened, for an App that was not run.
func (a *App) Close() error { return errors.Join(a.listeners.close(), a.state.close()) }
