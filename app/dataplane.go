package app

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/gateway/bearer"
	"postern/models"
	"postern/platform/config"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/platform/traces"
	"postern/service/introspection"
	"postern/service/keys"
	"postern/service/login"
	"postern/service/projects"
	"postern/service/relations"
	"postern/service/serving"
)

type gatewayDeps struct {
	config       config.Config
	keys         *keys.Table
	verifier     *bearer.Verifier
	introspector *introspection.Introspector
	opener       opener
	unsealer     projects.Unsealer
	observer     observer
	tracer       gateway.Tracer // nil: calls are not traced
	limiter      gateway.Limiter
	owners       ownership
	guard        *egress.Guard
	tls          *tls.Config // nil: callers do not use TLS
	probes       http.Handler
	log          *slog.Logger
}

func newGateway(d gatewayDeps) *gateway.Gateway {
	return gateway.New(gateway.Options{
		Domain:       d.config.GatewayDomain,
		Host:         d.config.GatewayHost(),
		Keys:         d.keys,
		Verifier:     d.verifier,
		Introspector: d.introspector,
		Opener:       d.opener,
		Unsealer:     d.unsealer,
		Observer:     d.observer,
		Tracer:       d.tracer,
		Limiter:      d.limiter,
		Ownership:    d.owners,
		Dial:         d.guard.DialWithin,
		Caps:         caps(d.config),
		Logger:       d.log,
		CallerTLS:    d.tls,
		HTTP2:        http2Of[d.config.GatewayHTTP2],
		PlainHTTP2:   d.config.GatewayH2C,
		Probes:       d.probes,
		Trusted:      d.config.Trusted,
		Limits:       callLimits(d.config, descriptors()),
		Documents: gateway.Documents{
			Memory:    int64(d.config.DocumentMemory) << 20,
			Unclaimed: int64(d.config.UnclaimedDocumentMemory) << 20,
		},

		TraceTrusted: d.config.Traces.Trusted,
	})
}

// http2Of are the values of --gateway-http2.
var http2Of = map[string]gateway.HTTP2{
	"own": gateway.HTTP2Own, "nethttp": gateway.HTTP2NetHTTP, "off": gateway.HTTP2Off,
}

// caps returns the limits of unclaimed projects, nil where they do not apply.
func caps(c config.Config) *gateway.Caps {
	if !c.CapsApply() {
		return nil
	}
	return &gateway.Caps{Bodies: int64(c.UnclaimedBodyMemory) << 20}
}

// newFeed creates the feed that keeps the gateway and its table of keys up to date. It
// publishes only after wire: services are created with the feed, and the gateway is
// created with services.
func (a *App) newFeed(table *keys.Table, owners *relations.Table) *serving.Feed {
	return &serving.Feed{
		DB:        a.state.db,
		Keys:      table,
		Relations: owners,
		PublicURL: a.Config.PublicURL,
		Publish:   func(all []*snapshot.Project) error { return a.plane.Publish(all) },
		Log:       a.log,
	}
}

// changed brings a committed change to what this process serves. A worker alone serves nothing.
func (a *App) changed(ctx context.Context) {
	if a.Config.Roles.Serve() {
		a.feed.Changed(ctx)
	}
}

// newGuard creates the guard that every address chosen by a customer is dialed through.
func newGuard(c config.Config) (*egress.Guard, error) {
	var listeners []string
	if c.Roles.Control {
		listeners = append(listeners, c.ControlAddr)
	}
	if c.Roles.Gateway {
		listeners = append(listeners, c.GatewayAddr)
	}
	if c.AdminAddr != "" {
		listeners = append(listeners, c.AdminAddr)
	}
	return egress.New(egress.Options{
		Allow:           c.EgressAllow,
		LoopbackAllowed: c.LoopbackOnly(),
		Listeners:       listeners,
		Dashboard:       []string{c.ControlAddr, c.PublicHost()},
		Names:           c.OwnNames(),
		Domains:         c.OwnDomains(),
	})
}

// newIntrospector creates the client of introspection endpoints. It keeps as many idle
// connections as calls may wait, so that under load a call needs no new handshake.
func newIntrospector(
	hosted *login.Service, db *models.DB, vault *secrets.Vault, guard *egress.Guard, log *slog.Logger,
) *introspection.Introspector {
	client := guard.Client()
	if transport, ok := client.Transport.(*http.Transport); ok {
		transport.MaxIdleConnsPerHost = introspection.MaxInside
	}
	client = traces.HTTPClient(client, "introspection")
	return &introspection.Introspector{Login: hosted, DB: db, Vault: vault, Client: client, Log: log}
}

// ownership tells the gateway who owns an object.
type ownership struct {
	*relations.Table

	recorder *relations.Recorder
}

// Record implements gateway.Ownership.
func (o ownership) Record(c gateway.OwnerChange) bool {
	return o.recorder.Record(relations.Change{
		ProjectID: c.ProjectID,
		TenantID:  c.TenantID,
		Object:    c.Object,
		User:      c.User,
		Forget:    c.User == "",
	})
}

// opener opens providers' tokens for upstreams, for the gateway.
type opener struct{ login *login.Service }

// openWithin bounds the query for a team's data key.
const openWithin = 2 * time.Second

// Open implements gateway.Opener.
func (o opener) Open(tokenID, sealed string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), openWithin)
	defer stop()
	token, err := o.login.UpstreamToken(ctx, tokenID, sealed)
	return token.Reveal(), err
}
