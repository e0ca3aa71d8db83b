package app

import (
	"log/slog"

	"postern/jobs"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/webhooks"
)

var webhookSchedule = jobs.Schedule{Attempts: webhooks.Attempts(), RetryAfter: webhooks.RetryAfter}

func newWebhooks(db *models.DB, vault *secrets.Vault, guard *egress.Guard, log *slog.Logger) *webhooks.Service {
	return &webhooks.Service{DB: db, Vault: vault, Targets: guard, Client: guard.Client(), Log: log}
}
