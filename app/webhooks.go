package app

import (
	"log/slog"

	"postern/egress"
	"postern/jobs"
	"postern/models"
	"postern/secrets"
	"postern/webhooks"
)

var webhookSchedule = jobs.Schedule{Attempts: webhooks.Attempts(), RetryAfter: webhooks.RetryAfter}

func newWebhooks(db *models.DB, vault *secrets.Vault, guard *egress.Guard, log *slog.Logger) *webhooks.Service {
	return &webhooks.Service{DB: db, Vault: vault, Targets: guard, Client: guard.Client(), Log: log}
}
