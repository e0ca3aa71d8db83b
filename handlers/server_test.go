package handlers_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"postern/accounts"
	"postern/accounts/provider"
	"postern/audit"
	"postern/config"
	"postern/egress"
	"postern/exports"
	"postern/handlers"
	"postern/idempotency"
	"postern/jobs"
	"postern/keys"
	"postern/models"
	"postern/projects"
	"postern/tokens"
	"postern/usage"
)

// newServer is the control plane over real rooms, without listeners and with
// nobody working on the queue.
func newServer(t *testing.T, db *models.DB) *handlers.Server {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	settings := config.Default().Derived()
	guard, err := egress.New(egress.Options{LoopbackAllowed: true, Listeners: []string{settings.ControlAddr, settings.GatewayAddr}})
	if err != nil {
		t.Fatal(err)
	}
	builder := &exports.Service{DB: db, Store: exports.Dir(t.TempDir()), TTL: time.Hour, AddressOf: settings.Address, Generator: "postern test", Log: log}
	if builder.Jobs, err = jobs.New(db, builder, log); err != nil {
		t.Fatal(err)
	}
	unserved := func(context.Context) {}
	return &handlers.Server{
		Config: settings, Version: "test", Log: log, Exports: builder,
		Providers:   provider.FromConfig(config.SignIn{GitHub: config.GitHub{ClientID: "app", ClientSecret: "secret", URL: "http://127.0.0.1:9", APIURL: "http://127.0.0.1:9"}}),
		Ready:       func(context.Context) error { return nil },
		Accounts:    &accounts.Service{DB: db, Changed: unserved},
		Tokens:      &tokens.Service{DB: db},
		Idempotency: &idempotency.Service{DB: db},
		Usage:       &usage.Service{DB: db, Recorder: usage.NewRecorder(db, log)},
		Keys:        &keys.Service{DB: db, Prefix: "pst", Changed: unserved},
		Projects:    &projects.Service{DB: db, Targets: guard, Log: log, KeyPrefix: "pst", UnclaimedTTL: time.Hour, Changed: unserved},
		Audit:       &audit.Service{DB: db},
		Refusals:    &audit.Refusals{DB: db, Log: log, PerSource: 100_000, PerMinute: 100_000},
	}
}
