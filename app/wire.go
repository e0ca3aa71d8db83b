package app

import (
	"context"

	"postern/gateway/bearer"
	"postern/handlers"
	"postern/handlers/oidc"
	"postern/jobs"
	"postern/platform/traces"
	"postern/service/accounts/federated"
	"postern/service/audit"
	"postern/service/keys"
	"postern/service/projects"
	"postern/service/relations"
	"postern/service/usage"
)

// wire creates the parts, each after those that it uses. It does not use the database.
func (a *App) wire(ctx context.Context, version string) error {
	guard, err := newGuard(a.Config)
	if err != nil {
		return err
	}
	if a.traces, err = openTraces(a.Config, a.state.db, version, a.log); err != nil {
		return err
	}
	if a.vault, err = openVault(a.Config); err != nil {
		return err
	}
	if a.tls, err = loadCertificates(a.Config, a.log); err != nil {
		return err
	}
	if a.tls.acme, err = a.newACME(a.tls.names); err != nil {
		return err
	}
	if a.limiter, a.keeper, err = newLimiter(a.Config, a.state.db, a.log); err != nil {
		return err
	}
	queue, err := jobs.NewQueue(a.state.db, webhookSchedule, quiet(a.log))
	if err != nil {
		return err
	}
	if a.zips, err = openZips(ctx, a.Config); err != nil {
		return err
	}
	table := keys.NewTable()
	owners := relations.NewTable()
	a.feed = a.newFeed(table, owners)
	a.owners = &relations.Recorder{
		DB:      a.state.db,
		Table:   owners,
		Changed: a.changed,
		Prunes:  a.Config.Roles.Worker,
		Log:     a.log,
	}
	a.usage = usage.NewRecorder(a.state.db, a.log)
	a.usage.Folds, a.usage.KeepRequests = a.Config.Roles.Worker, a.Config.Retention.Requests
	a.refusals = &audit.Refusals{DB: a.state.db, Log: a.log}
	a.streams = auditStreams(a.Config, a.state.db, a.log)
	signIns := federated.FromConfig(a.Config.SignIn)
	sender, err := newSender(a.Config.Mail)
	if err != nil {
		return err
	}
	a.services = newServices(serviceDeps{
		config:      a.Config,
		version:     version,
		db:          a.state.db,
		vault:       a.vault,
		guard:       guard,
		queue:       queue,
		zips:        tracedZips(a.zips, a.traces),
		changed:     a.changed,
		recorder:    a.usage,
		streams:     a.streams,
		names:       a.tls.names,
		provesEmail: len(signIns) > 0,
		mail:        sender,
		bulk:        a.newBulk(version),
		log:         a.log,
	})
	if a.accessLog, err = openAccessLog(a.Config, a.log); err != nil {
		return err
	}
	metrics := a.newMetrics(version, queue)
	a.workers, err = newWorkers(jobs.Options{
		DB:      a.state.db,
		Log:     quiet(a.log),
		Observe: metrics.Job,
		Traces:  a.traces,
	}, a.services)
	if err != nil {
		return err
	}
	languages, err := oidc.LoadLanguages(a.Config.LoginLanguages)
	if err != nil {
		return err
	}
	control := a.newControl(controlDeps{version: version, signIns: signIns, languages: languages, metrics: metrics})
	a.serveControl(control)
	a.bearer = bearer.New(traces.HTTPClient(guard.Client(), "jwks"), a.log)
	a.plane = newGateway(gatewayDeps{
		config:       a.Config,
		keys:         table,
		verifier:     a.bearer,
		introspector: newIntrospector(a.services.login, a.state.db, a.vault, guard, a.log),
		opener:       opener{a.services.login},
		unsealer:     projects.Unsealer{Vault: a.vault},
		observer:     observer{a.usage, metrics, a.accessLog},
		tracer:       callTracer(a.traces),
		limiter:      a.limiter,
		owners:       ownership{owners, a.owners},
		guard:        guard,
		tls:          a.tls.gatewayTLS(),
		probes:       control.Probes(),
		log:          a.log,
	})
	a.services.projects.Gateway = a.plane.Explain
	a.services.diagnostics.Gateway, a.services.diagnostics.Verifier = a.plane, a.bearer
	a.usage.Events = a.services.webhooks
	if a.Config.Roles.Gateway {
		a.usage.Targets = a.targets
		a.gateway = a.plane.Server(a.Config.GatewayAddr)
	}
	return nil
}

// serveControl creates the servers of the control plane and of the admin address.
func (a *App) serveControl(control *handlers.Server) {
	a.admin = a.newAdmin(control)
	if !a.Config.Roles.Control {
		return
	}
	idle := &waiting{}
	a.bounded = boundControl(a.listeners.control, a.Config, descriptors(), idle, a.log)
	a.listeners.control = a.tls.secureControl(a.bounded)
	a.control = a.newControlServer(control.Handler(), idle)
}
