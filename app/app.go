// Package app creates the parts of the server and connects them, the same for the
// command line and for the end-to-end tests.
//
// It owns construction, start and stop. It contains no rule and no route. wire lists
// the parts; New, Run and Close are the life of the server.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os/exec"
	"sync"
	"sync/atomic"

	"postern/gateway"
	"postern/gateway/accesslog"
	"postern/gateway/admission"
	"postern/gateway/bearer"
	"postern/jobs"
	"postern/platform/config"
	"postern/platform/secrets"
	"postern/platform/traces"
	"postern/service/audit"
	"postern/service/exports"
	"postern/service/ratelimit"
	"postern/service/relations"
	"postern/service/serving"
	"postern/service/usage"
)

// App is a server. It listens from New on, and serves during Run.
type App struct {
	Config    config.Config // with the ports that the listeners have
	FirstLink string        // one-time link that creates the first account; "" if there is an account

	log       *slog.Logger
	listeners listeners
	tls       listenerCertificates
	state     *state
	vault     *secrets.Vault
	zips      exports.Store
	feed      *serving.Feed
	services  services
	workers   *jobs.Workers
	usage     *usage.Recorder
	owners    *relations.Recorder
	refusals  *audit.Refusals
	streams   []*audit.Stream // of the audit log
	limiter   limiter
	keeper    *ratelimit.Keeper   // nil: the counts are in Redis
	control   *http.Server        // nil without the role
	bounded   *admission.Listener // of control
	admin     *http.Server        // of the admin address, if there is one
	accessLog *accesslog.Log      // nil: there is none
	traces    *traces.Tracer      // nil: nothing is traced
	bearer    *bearer.Verifier
	plane     *gateway.Gateway
	gateway   *gateway.Server                 // of plane; nil without the role
	bulk      func(context.Context) *exec.Cmd // that runs BuildExport; nil: this process writes all exports

	attached atomic.Bool // the database has answered, and its state is served
	running  atomic.Bool
	starting sync.Mutex // held while work starts, which must not happen once stopping is set
	stopping atomic.Bool
}

// Option changes how an App works.
type Option func(*App)

// WithBulk has exports of many rows written by processes that run BuildExport.
func WithBulk(command func(context.Context) *exec.Cmd) Option {
	return func(a *App) { a.bulk = command }
}

// New opens the listeners and the database and creates the parts on them. Its errors
// have one line, with what to do about them. The caller runs the App, or closes it.
func New(
	ctx context.Context, c config.Config, version string, log *slog.Logger, options ...Option,
) (*App, error) {
	log = bounded(log)
	if err := c.CheckRoles(); err != nil {
		return nil, err
	}
	listeners, c, err := listen(ctx, c)
	if err != nil {
		return nil, err
	}
	state, err := openState(ctx, c)
	if err != nil {
		return nil, errors.Join(err, listeners.close())
	}
	a := &App{Config: c, log: log, listeners: listeners, state: state}
	for _, option := range options {
		option(a)
	}
	a.sweep()
	if err := a.firstSchema(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if err := a.wire(ctx, version); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if err := a.checkZips(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	if err := a.start(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	a.warnOfAdmin()
	warnOfShares(a.Config, descriptors(), a.log)
	return a, nil
}

// Close releases what New opened, for an App that was not run.
func (a *App) Close() error {
	return errors.Join(a.listeners.close(), a.closeAccessLog(), a.closeTraces(context.Background()), a.closeZips(),
		a.state.close())
}
