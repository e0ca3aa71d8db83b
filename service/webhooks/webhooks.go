// Package webhooks sends events about projects, keys, exports, users and groups to the URLs
// that a team has registered, in the format of Standard Webhooks (standardwebhooks.com).
//
// It owns subscriptions, payloads, signatures, the state of each delivery, and when a
// failing webhook is disabled. Services call Emit in the transaction of their change; the
// queue belongs to package jobs, and the addresses that may be reached to egress.
package webhooks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"postern/models"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/accounts"
)

// The events that a webhook can subscribe to.
const (
	ProjectClaimed = "project.claimed"
	KeyCreated     = "key.created"
	KeyRotated     = "key.rotated"
	KeyFrozen      = "key.frozen"
	KeyRevoked     = "key.revoked"
	ExportReady    = "export.ready"
	ExportFailed   = "export.failed"

	UserCreated      = "user.created"
	UserSignedIn     = "user.signed_in"
	UserFrozen       = "user.frozen"
	UserDeleted      = "user.deleted"
	GroupChanged     = "group.changed"
	ConsentWithdrawn = "consent.withdrawn"
	TenantDeleted    = "tenant.deleted"

	DomainRecordMissing = "domain.record_missing"
	DomainRecordBack    = "domain.record_back"
)

// Events returns all events.
func Events() []string {
	return []string{
		ProjectClaimed,
		KeyCreated, KeyRotated, KeyFrozen, KeyRevoked,
		ExportReady, ExportFailed,
		UserCreated, UserSignedIn, UserFrozen, UserDeleted,
		GroupChanged,
		ConsentWithdrawn,
		TenantDeleted,
		DomainRecordMissing, DomainRecordBack,
	}
}

// Enqueuer adds the job that makes a delivery to the caller's transaction.
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

// Webhook is a webhook as its team sees it.
type Webhook struct {
	ID              string
	Team            string
	URL             string
	Description     string
	Events          []string
	Enabled         bool
	DisabledReason  string     // why Postern disabled it; "" if it did not
	FailingSince    *time.Time // nil while deliveries arrive
	OldSecretEndsAt *time.Time // until when the secret before the last rotation signs too
	ETag            string
	CreatedAt       time.Time
}

func view(row models.Webhook) Webhook {
	out := Webhook{
		ID:             row.ID,
		Team:           row.TeamID,
		URL:            row.URL,
		Description:    row.Description,
		Events:         row.Events,
		Enabled:        row.Enabled,
		DisabledReason: row.DisabledReason,
		FailingSince:   row.FailingSince,
		ETag:           access.ETag(row.UpdatedAt),
		CreatedAt:      row.CreatedAt,
	}
	if row.OldSecretEndsAt != nil && row.OldSecretEndsAt.After(models.Now()) {
		out.OldSecretEndsAt = row.OldSecretEndsAt
	}
	return out
}

// List returns the webhooks of the teams in which the principal may see them, newest first; those that are on, off or
// failing unless state is empty.
func (s *Service) List(
	ctx context.Context, p access.Principal, state string, page models.Page,
) (models.List[Webhook], error) {
	if p.Anonymous() {
		return models.List[Webhook]{}, access.Check(p, "", access.WebhookRead)
	}
	var teams []string
	for _, team := range p.Teams() {
		if access.Check(p, team, access.WebhookRead) == nil {
			teams = append(teams, team)
		}
	}
	if len(teams) == 0 {
		return models.List[Webhook]{}, access.Check(p, p.HomeTeam, access.WebhookRead)
	}
	rows, err := s.DB.Read(ctx).WebhooksOfTeams(teams, state, page)
	if err != nil {
		return models.List[Webhook]{}, fmt.Errorf("webhooks: list: %w", err)
	}
	return models.MapList(rows, view), nil
}

// Get finds one webhook.
func (s *Service) Get(ctx context.Context, p access.Principal, id string) (Webhook, error) {
	row, err := find(s.DB.Read(ctx), p, id, access.WebhookRead)
	if err != nil {
		return Webhook{}, fmt.Errorf("webhooks: get %s: %w", id, err)
	}
	return view(row), nil
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

// Delivery is one event on its way to one webhook.
type Delivery struct {
	ID          string // also the webhook-id that the receiver sees, the same for every attempt
	Webhook     string
	Event       string
	Payload     string // JSON, as it is sent
	State       string // pending, delivered or failed
	Attempts    int64
	LastStatus  int64  // of the receiver's last answer; 0 for none
	LastError   string // why the last attempt failed; "" when it did not
	LastAnswer  string // the first maxAnswer bytes of the body of the last answer
	CreatedAt   time.Time
	AttemptedAt *time.Time
	NextAttempt *time.Time // nil before the first one, and for a finished delivery
	FinishedAt  *time.Time
}

// The states of a delivery.
const (
	Pending   = "pending"
	Delivered = "delivered"
	Failed    = "failed"
)

func viewDelivery(row models.WebhookDelivery) Delivery {
	out := Delivery{
		ID:          row.ID,
		Webhook:     row.WebhookID,
		Event:       row.Event,
		Payload:     row.Payload,
		State:       row.State,
		Attempts:    row.Attempts,
		LastStatus:  row.LastStatus,
		LastError:   row.LastError,
		LastAnswer:  row.LastAnswer,
		CreatedAt:   row.CreatedAt,
		AttemptedAt: row.AttemptedAt,
		FinishedAt:  row.FinishedAt,
	}
	if row.State == Pending && row.AttemptedAt != nil {
		next := row.AttemptedAt.Add(RetryAfter(int(row.Attempts)))
		out.NextAttempt = &next
	}
	return out
}

// Deliveries returns the deliveries of a webhook, newest first. Finished ones are
// deleted after KeepFor.
func (s *Service) Deliveries(
	ctx context.Context, p access.Principal, id string, f models.DeliveryFilter, page models.Page,
) (models.List[Delivery], error) {
	tx := s.DB.Read(ctx)
	row, err := find(tx, p, id, access.WebhookRead)
	if err != nil {
		return models.List[Delivery]{}, fmt.Errorf("webhooks: deliveries of %s: %w", id, err)
	}
	rows, err := tx.DeliveriesOf(row.ID, f, page)
	if err != nil {
		return models.List[Delivery]{}, fmt.Errorf("webhooks: deliveries of %s: %w", id, err)
	}
	return models.MapList(rows, viewDelivery), nil
}
