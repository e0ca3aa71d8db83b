package app

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"postern/jobs"
	"postern/models"
	"postern/platform/certs"
	"postern/platform/config"
	"postern/platform/egress"
	"postern/platform/mail"
	"postern/platform/secrets"
	"postern/platform/traces"
	"postern/service/access"
	"postern/service/accounts"
	"postern/service/appclients"
	"postern/service/audit"
	"postern/service/diagnostics"
	"postern/service/directory"
	"postern/service/domains"
	"postern/service/exports"
	"postern/service/idempotency"
	"postern/service/imports"
	"postern/service/keys"
	"postern/service/login"
	"postern/service/login/providers"
	"postern/service/movein"
	"postern/service/projects"
	"postern/service/relations"
	"postern/service/retention"
	"postern/service/tokens"
	"postern/service/usage"
	"postern/service/webhooks"
)

// services are the rules on the database.
type services struct {
	accounts    *accounts.Service
	appClients  *appclients.Service
	audit       *audit.Service
	diagnostics *diagnostics.Service
	directory   *directory.Service
	domains     *domains.Service
	exports     *exports.Service
	idempotency *idempotency.Service
	imports     *imports.Service
	plans       *movein.Plans
	keys        *keys.Service
	login       *login.Service
	projects    *projects.Service
	relations   *relations.Service
	retention   *retention.Service
	tokens      *tokens.Service
	usage       *usage.Service
	webhooks    *webhooks.Service
}

type serviceDeps struct {
	config      config.Config
	version     string
	db          *models.DB
	vault       *secrets.Vault
	guard       *egress.Guard
	queue       *jobs.Queue
	zips        exports.Store
	changed     func(context.Context) // applies a committed change to the gateway
	recorder    *usage.Recorder
	streams     []*audit.Stream  // of the audit log
	names       *certs.Directory // of certificates of custom host names, nil for none
	provesEmail bool             // by signing in with a provider
	mail        *mail.Sender     // nil: no mail is sent
	bulk        *bulkExports     // nil: this process writes all exports
	log         *slog.Logger
}

func newServices(d serviceDeps) services {
	hooks := newWebhooks(d)
	clients := newAppClients(d, hooks)
	people := &accounts.Service{
		DB:          d.db,
		Changed:     d.changed,
		Policy:      d.config.AccountSignUp,
		Events:      hooks,
		ProvesEmail: d.provesEmail,
	}
	if d.config.SignIn.OIDC.ClientID != "" {
		people.OwnIssuer = d.config.SignIn.OIDC.Issuer
	}
	if d.mail != nil {
		people.Mail = &accounts.Mail{Sender: d.mail, Jobs: d.queue, PublicURL: d.config.PublicURL}
	}
	made, names := newProjects(d, hooks, clients), newDomains(d, hooks)
	return services{
		accounts:    people,
		appClients:  clients,
		audit:       &audit.Service{DB: d.db},
		diagnostics: &diagnostics.Service{Projects: made, AppClients: clients, Client: d.guard.Client()},
		directory:   &directory.Service{DB: d.db, Changed: d.changed, Events: hooks},
		domains:     names,
		exports:     newExports(d, hooks, people.Prove),
		idempotency: &idempotency.Service{DB: d.db},
		imports:     &imports.Service{DB: d.db, Projects: made, AppClients: clients, Changed: d.changed},
		plans: &movein.Plans{
			DB: d.db, Vault: d.vault, CheckHost: names.CheckHost, Reaches: d.guard.Reaches, Dial: d.guard.DialContext,
			Writer: &movein.Service{DB: d.db, Projects: made, Domains: names, Changed: d.changed},
		},
		keys: &keys.Service{DB: d.db, Prefix: d.config.KeyPrefix, Changed: d.changed, Events: hooks,
			Calls: d.recorder.Calls, MayCheck: checks(keys.MaxChecks)},
		login:     login.New(clients),
		projects:  made,
		relations: &relations.Service{DB: d.db, Changed: d.changed},
		retention: &retention.Service{
			DB:      d.db,
			Files:   d.zips,
			Grace:   d.config.UnclaimedGrace,
			Usage:   d.config.Retention.Usage,
			Audit:   d.config.Retention.Audit,
			Revoked: d.config.Retention.RevokedKeys,
			Deleted: d.config.Retention.Workspaces,
			Changed: d.changed,
			Events:  hooks,
			Trimmer: &audit.Trimmer{DB: d.db, Streams: d.streams},
			Log:     d.log,
		},
		tokens:   &tokens.Service{DB: d.db},
		usage:    &usage.Service{DB: d.db, Recorder: d.recorder, NoGateway: !d.config.Roles.Gateway},
		webhooks: hooks,
	}
}

func newWebhooks(d serviceDeps) *webhooks.Service {
	return &webhooks.Service{
		DB:      d.db,
		Vault:   d.vault,
		Targets: d.guard,
		Client:  webhookClient(d.guard),
		Jobs:    d.queue,
		Log:     d.log,
	}
}

// webhookClient returns the client that delivers events. Receivers get the traceparent of recorded attempts, as
// upstreams do, and nothing else of the trace.
func webhookClient(guard *egress.Guard) *http.Client {
	client := guard.Client()
	client.Transport = traces.Transport{Base: client.Transport, Purpose: "webhook", Propagate: true}
	return client
}

// newAppClients creates the app clients of hosted login. They reach identity providers through the guard,
// because customers choose their addresses.
func newAppClients(d serviceDeps, hooks *webhooks.Service) *appclients.Service {
	return &appclients.Service{
		DB:           d.db,
		Vault:        d.vault,
		Providers:    &providers.Set{HTTP: traces.HTTPClient(d.guard.Client(), "provider")},
		Targets:      d.guard,
		PublicURL:    d.config.PublicURL,
		Shared:       appclients.Shared(d.config.LoginGitHub),
		Changed:      d.changed,
		Events:       hooks,
		Log:          d.log,
		CapUnclaimed: d.config.CapsApply(),
	}
}

func newProjects(d serviceDeps, hooks *webhooks.Service, clients *appclients.Service) *projects.Service {
	return &projects.Service{
		DB:           d.db,
		Targets:      d.guard,
		OwnName:      d.config.IsOwnHost,
		Addresses:    d.config,
		Client:       traces.HTTPClient(d.guard.Client(), "openapi"),
		Vault:        d.vault,
		Purger:       d.queue,
		CheckLogin:   clients.CheckProject,
		Log:          d.log,
		PublicURL:    d.config.PublicURL,
		KeyPrefix:    d.config.KeyPrefix,
		UnclaimedTTL: d.config.UnclaimedTTL,
		CapUnclaimed: d.config.CapsApply(),
		Changed:      d.changed,
		Events:       hooks,
		Usage:        d.recorder,
	}
}

func newDomains(d serviceDeps, hooks *webhooks.Service) *domains.Service {
	s := &domains.Service{
		DB:       d.db,
		Resolver: domains.DNS{Server: d.config.DNSServer},
		Own:      d.config.OwnNames(),
		OwnBelow: d.config.OwnDomains(),
		ACME:     d.config.ACME.Directory != "",
		Events:   hooks,
		Changed:  d.changed,
		Log:      d.log,
	}
	if d.names != nil {
		s.InFiles = d.names.Ends
	}
	return s
}

func newExports(
	d serviceDeps, hooks *webhooks.Service, prove func(context.Context, access.Principal, string) error,
) *exports.Service {
	s := &exports.Service{
		DB:        d.db,
		Jobs:      d.queue,
		Store:     d.zips,
		TTL:       d.config.ExportTTL,
		AddressOf: d.config.Address,
		PublicURL: d.config.PublicURL,
		Generator: "postern " + d.version,
		Vault:     d.vault,
		Prove:     prove,
		Log:       d.log,
		Events:    hooks,
		Followers: exports.NewFollowers(),
	}
	if d.bulk != nil {
		s.Elsewhere = d.bulk.write
	}
	return s
}

var webhookSchedule = jobs.Schedule{Attempts: webhooks.Attempts(), RetryAfter: webhooks.RetryAfter}

// newWorkers creates the workers of every background job.
func newWorkers(o jobs.Options, s services) (*jobs.Workers, error) {
	return jobs.NewWorkers(o,
		jobs.ExportJobs(s.exports),
		jobs.UpkeepJobs(o.DB, s.exports),
		jobs.RetentionJobs(s.retention),
		jobs.WebhookJobs(s.webhooks, webhookSchedule),
		jobs.LoginJobs(s.login),
		jobs.LogoutJobs(s.login),
		jobs.DomainJobs(s.domains),
		jobs.MailJobs(s.accounts),
	)
}

// checks returns a counter of attempts a minute by who makes them.
func checks(most int) func(who string) bool {
	made := &accounts.Attempts{Window: time.Minute}
	return func(who string) bool { return made.Take(time.Now(), accounts.Bound{Key: who, Max: most}) }
}
