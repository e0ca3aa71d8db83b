// Package controlplane runs the control plane's HTTP over real services and a real
// database, without workers, for tests.
//
// Start with NewServer and Call to test the API, with NewOwner to test pages as a browser
// without scripts, and with NewFixture where accounts in every role are needed. Databases
// come from package state; assertions about a feature belong into its tests.
package controlplane

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"postern/core/diagnosis"
	"postern/core/policy"
	"postern/gateway/bearer"
	"postern/handlers"
	"postern/handlers/web"
	"postern/jobs"
	"postern/models"
	"postern/platform/config"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/accounts"
	"postern/service/accounts/federated"
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
	"postern/service/tokens"
	"postern/service/usage"
	"postern/service/webhooks"
)

// NewServer returns a control plane with default settings on db. It has no listener, and
// no worker takes jobs off its queue.
func NewServer(t testing.TB, db *models.DB) *handlers.Server {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	settings := config.Default().Derived()
	guard, err := egress.New(egress.Options{
		LoopbackAllowed: true,
		Listeners:       []string{settings.ControlAddr, settings.GatewayAddr},
		Dashboard:       []string{settings.ControlAddr},
	})
	must(t, err)
	retries := jobs.Schedule{Attempts: webhooks.Attempts(), RetryAfter: webhooks.RetryAfter}
	queue, err := jobs.NewQueue(db, retries, log)
	must(t, err)
	vault := newVault(t)
	builder := &exports.Service{
		DB:        db,
		Jobs:      queue,
		Store:     exports.Dir(t.TempDir()),
		TTL:       time.Hour,
		AddressOf: settings.Address,
		PublicURL: settings.PublicURL,
		Generator: "postern test",
		Vault:     vault,
		Followers: exports.NewFollowers(),
		Log:       log,
	}
	hooks := &webhooks.Service{
		DB:      db,
		Vault:   vault,
		Targets: guard,
		Client:  guard.Client(),
		Jobs:    queue,
		Log:     log,
	}
	clients := &appclients.Service{
		DB:        db,
		Vault:     vault,
		Providers: &providers.Set{HTTP: guard.Client()},
		Targets:   guard,
		PublicURL: settings.PublicURL,
		Changed:   unserved,
		Events:    hooks,
		Log:       log,
	}
	made := newProjects(db, settings, log)
	made.Targets, made.Client, made.Vault, made.CheckLogin = guard, guard.Client(), vault, clients.CheckProject
	names := &domains.Service{
		DB:       db,
		Resolver: domains.DNS{Server: "127.0.0.1:9"}, // where nothing listens; see Fixture.Names
		Own:      settings.OwnNames(),
		OwnBelow: settings.OwnDomains(),
		ACME:     true, // nothing obtains any
		Events:   hooks,
		Changed:  unserved,
		Log:      log,
	}
	return &handlers.Server{
		Site:        newSite(db, settings, log),
		Version:     "test",
		Exports:     builder,
		Providers:   unreachableGitHub(),
		Attached:    func() bool { return true },
		Ready:       func(context.Context) (string, error) { return "", nil },
		Idempotency: &idempotency.Service{DB: db},
		Usage:       &usage.Service{DB: db, Recorder: usage.NewRecorder(db, log)},
		Keys:        &keys.Service{DB: db, Prefix: "pst", Changed: unserved, MayCheck: checks(keys.MaxChecks)},
		Projects:    made,
		Imports:     &imports.Service{DB: db, Projects: made, AppClients: clients, Changed: unserved},
		Plans: &movein.Plans{
			DB: db, Vault: vault, CheckHost: names.CheckHost,
			Writer: &movein.Service{DB: db, Projects: made, Domains: names, Changed: unserved},
		},
		Domains:    names,
		Audit:      &audit.Service{DB: db},
		Metrics:    http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		Webhooks:   hooks,
		AppClients: clients,
		Login:      login.New(clients),
		Directory:  &directory.Service{DB: db, Changed: unserved, Events: hooks},
		Relations:  &relations.Service{DB: db, Changed: unserved},
		Diagnostics: &diagnostics.Service{
			Projects:   made,
			AppClients: clients,
			Client:     guard.Client(),
			Gateway:    reachesTargets{},
			Verifier:   newVerifier(t, guard, log),
		},
	}
}

func newProjects(db *models.DB, settings config.Config, log *slog.Logger) *projects.Service {
	return &projects.Service{
		DB:           db,
		Purger:       noPurge{},
		OwnName:      settings.IsOwnHost,
		Addresses:    settings,
		Log:          log,
		PublicURL:    settings.PublicURL,
		KeyPrefix:    "pst",
		UnclaimedTTL: time.Hour,
		Changed:      unserved,
		Gateway:      servesNothing,
	}
}

// newSite returns the parts that all surfaces share, with a cheap password hash and budgets
// for refusals that no test exhausts by accident.
func newSite(db *models.DB, settings config.Config, log *slog.Logger) *web.Site {
	return &web.Site{
		Config: settings,
		Accounts: &accounts.Service{
			DB:           db,
			Changed:      unserved,
			ProvesEmail:  true,
			PasswordCost: accounts.PasswordCost{Passes: 1, Memory: 8, Threads: 1},
		},
		Tokens:   &tokens.Service{DB: db},
		Refusals: &audit.Refusals{DB: db, Log: log, PerSource: 100_000, PerMinute: 100_000},
		Log:      log,
	}
}

// unserved is the Changed of services whose changes no gateway follows.
func unserved(context.Context) {}

// unreachableGitHub returns a configured GitHub at a port where nothing listens.
func unreachableGitHub() []federated.Provider {
	return federated.FromConfig(config.SignIn{GitHub: config.GitHub{
		ClientID:     "app",
		ClientSecret: "secret",
		URL:          "http://127.0.0.1:9",
		APIURL:       "http://127.0.0.1:9",
	}})
}

func newVault(t testing.TB) *secrets.Vault {
	t.Helper()
	vault, err := secrets.NewVault(secrets.Secret(strings.Repeat("A", 43) + "="))
	must(t, err)
	return vault
}

// noPurge leaves deleted projects where they are: the server runs no jobs.
type noPurge struct{}

func (noPurge) EnqueuePurge(context.Context, *models.Tx) error { return nil }

// servesNothing explains every call as a gateway without projects does.
func servesNothing(policy.Question) (out policy.Explanation) {
	out.Deny(policy.ExplainRoute, policy.NoRoute, policy.ExplainRoute)
	return out
}

// reachesTargets reports of every target that it is reached.
type reachesTargets struct{}

func (reachesTargets) CheckTarget(context.Context, string, string) (diagnosis.Report, bool) {
	var report diagnosis.Report
	report.Pass("connect", "Connected to a loopback address in 1 ms.")
	return report, true
}

func newVerifier(t testing.TB, guard *egress.Guard, log *slog.Logger) *bearer.Verifier {
	t.Helper()
	v := bearer.New(guard.Client(), log)
	t.Cleanup(v.Close)
	return v
}

// checks returns a counter of attempts a minute by who makes them.
func checks(most int) func(who string) bool {
	made := &accounts.Attempts{Window: time.Minute}
	return func(who string) bool { return made.Take(time.Now(), accounts.Bound{Key: who, Max: most}) }
}
