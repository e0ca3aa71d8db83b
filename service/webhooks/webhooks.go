// Package webhooks sends events about projects, keys, exports, users and groups to the URLs
// that a team has registered, in the format of Standard Webhooks (standardwebhooks.com).
//
// It owns subscriptions, payloads, signatures, the state of each delivery, and when a
// failing webhook is disabled. Services call Emit in the transaction of their change; the
// queue belongs to package jobs, and the addresses that may be reached to egress.
package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"

	"postern/core/contract"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/accounts"
)

// Enqueuer queues the job of a delivery in the caller's transaction.
type Enqueuer interface {
	EnqueueDelivery(ctx context.Context, tx *models.Tx, deliveryID string) error
}

// TargetChecker checks the URL of a webhook. Its errors are faults of kind Invalid.
type TargetChecker interface {
	CheckTarget(ctx context.Context, raw string) (*url.URL, error)
}

// Service manages webhooks and makes their deliveries.
type Service struct {
	DB      *models.DB
	Vault   *secrets.Vault
	Targets TargetChecker
	Client  *http.Client // dials through the guard and follows no redirects
	Jobs    Enqueuer
	Log     *slog.Logger

	Outbound accounts.Outbound // bounds how often callers ask for a message
}

// shown is a webhook as its team sees it.
func shown(row models.Webhook) contract.Webhook {
	out := contract.Webhook{
		ID:             row.ID,
		Team:           row.TeamID,
		URL:            row.URL,
		Description:    row.Description,
		Events:         row.Events,
		Enabled:        row.Enabled,
		DisabledReason: contract.OrNull(row.DisabledReason),
		FailingSince:   contract.UTC(row.FailingSince),
		ETag:           access.ETag(row.UpdatedAt),
		CreatedAt:      row.CreatedAt.UTC(),
	}
	if row.OldSecretEndsAt != nil && row.OldSecretEndsAt.After(models.Now()) {
		out.OldSecretExpiresAt = contract.UTC(row.OldSecretEndsAt)
	}
	return out
}

// List returns the webhooks of the teams in which the principal may see them, newest first by default.
func (s *Service) List(
	ctx context.Context, p access.Principal, in contract.WebhookList,
) (models.List[contract.Webhook], error) {
	var none models.List[contract.Webhook]
	if p.Anonymous() {
		return none, access.Check(p, "", access.WebhookRead)
	}
	var teams []string
	for _, team := range p.Teams() {
		if access.Check(p, team, access.WebhookRead) == nil {
			teams = append(teams, team)
		}
	}
	if len(teams) == 0 {
		return none, access.Check(p, p.HomeTeam, access.WebhookRead)
	}
	rows, err := s.DB.Read(ctx).WebhooksOfTeams(teams, in.State, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("webhooks: list: %w", err)
	}
	return models.MapList(rows, shown), nil
}

// Get finds one webhook.
func (s *Service) Get(ctx context.Context, p access.Principal, in contract.WebhookPath) (contract.Webhook, error) {
	row, err := find(s.DB.Read(ctx), p, in.Webhook, access.WebhookRead)
	if err != nil {
		return contract.Webhook{}, fmt.Errorf("webhooks: get %s: %w", in.Webhook, err)
	}
	return shown(row), nil
}

func find(tx *models.Tx, p access.Principal, id string, action access.Action) (models.Webhook, error) {
	if p.Anonymous() {
		return models.Webhook{}, access.Check(p, "", action)
	}
	row, err := tx.WebhookByID(id)
	if errors.Is(err, models.ErrNotFound) {
		return row, access.NotFound()
	}
	if err != nil {
		return row, err
	}
	return row, access.Check(p, row.TeamID, action)
}

func shownDelivery(row models.WebhookDelivery) contract.Delivery {
	out := contract.Delivery{
		ID:          row.ID,
		Webhook:     row.WebhookID,
		Event:       row.Event,
		Payload:     json.RawMessage(row.Payload),
		State:       row.State,
		Attempts:    row.Attempts,
		LastStatus:  contract.OrNull(row.LastStatus),
		LastError:   contract.OrNull(row.LastError),
		LastAnswer:  row.LastAnswer,
		CreatedAt:   row.CreatedAt.UTC(),
		AttemptedAt: contract.UTC(row.AttemptedAt),
		FinishedAt:  contract.UTC(row.FinishedAt),
	}
	if row.State == contract.DeliveryPending && row.AttemptedAt != nil {
		next := row.AttemptedAt.Add(RetryAfter(int(row.Attempts))).UTC()
		out.NextAttemptAt = &next
	}
	return out
}

// Deliveries returns the deliveries of a webhook, newest first. Finished ones are
// deleted after KeepFor.
func (s *Service) Deliveries(
	ctx context.Context, p access.Principal, in contract.DeliveryList,
) (models.List[contract.Delivery], error) {
	tx := s.DB.Read(ctx)
	var none models.List[contract.Delivery]
	row, err := find(tx, p, in.Webhook, access.WebhookRead)
	if err != nil {
		return none, fmt.Errorf("webhooks: deliveries of %s: %w", in.Webhook, err)
	}
	filter := models.DeliveryFilter{State: in.State, Event: in.Event}
	rows, err := tx.DeliveriesOf(row.ID, filter, models.PageOf(in.Page, in.Sort, ""))
	if err != nil {
		return none, fmt.Errorf("webhooks: deliveries of %s: %w", in.Webhook, err)
	}
	return models.MapList(rows, shownDelivery), nil
}
