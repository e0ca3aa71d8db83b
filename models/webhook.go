package models

import (
	"time"

	"postern/core/contract"
	"postern/platform/secrets"
)

// Webhook is a row of webhooks: a team's URL that is notified of events. Secret signs the notifications; so does
// OldSecret until OldSecretEndsAt.
type Webhook struct {
	ID              string `gorm:"primaryKey"`
	TeamID          string
	URL             string `gorm:"column:url"`
	Description     string
	Events          []string `gorm:"serializer:json"`
	Enabled         bool
	DisabledReason  string     // why Postern turned it off; "" when it did not
	FailingSince    *time.Time // since when no delivery has arrived; nil while they do
	Secret          secrets.Sealed
	OldSecret       secrets.Sealed
	OldSecretEndsAt *time.Time
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// WebhookDelivery is a row of webhook_deliveries: one event for one webhook, and the outcome. Payload is the JSON that
// is sent, byte for byte.
type WebhookDelivery struct {
	ID          string `gorm:"primaryKey"`
	WebhookID   string
	Event       string
	Payload     string
	State       string
	Attempts    int64
	LastStatus  int64
	LastError   string
	LastAnswer  string // beginning of the body of the last answer
	CreatedAt   time.Time
	AttemptedAt *time.Time
	FinishedAt  *time.Time
}

// WebhookByID finds a webhook.
func (t *Tx) WebhookByID(id string) (Webhook, error) {
	var w Webhook
	return w, t.db.Where("id = ?", id).Take(&w).Error
}

// WebhooksOf lists a team's webhooks, oldest first.
func (t *Tx) WebhooksOf(teamID string) ([]Webhook, error) {
	var list []Webhook
	return list, t.db.Where("team_id = ?", teamID).Order("id").Find(&list).Error
}

// WebhooksOfTeams lists the webhooks of the teams, newest first; those in one state unless it is empty.
func (t *Tx) WebhooksOfTeams(teamIDs []string, state string, page Page) (List[Webhook], error) {
	q := t.db.Where("team_id IN ?", teamIDs)
	page = t.searching(page, "url", "description")
	switch state {
	case contract.WebhookOn:
		q = q.Where("enabled AND failing_since IS NULL")
	case contract.WebhookOff:
		q = q.Where("NOT enabled")
	case contract.WebhookFailing:
		q = q.Where("enabled AND failing_since IS NOT NULL")
	}
	id := func(row Webhook) string { return row.ID }
	if page.Sort == (Sort{}) {
		return newestFirst(q, page, id)
	}
	return sorted(q, page, orders[Webhook]{
		"created": byID("id", id),
		"url":     byText(t, "url", func(row Webhook) string { return row.URL }),
	}, "id", id)
}

// CountWebhooks counts a team's webhooks.
func (t *Tx) CountWebhooks(teamID string) (int64, error) {
	var n int64
	return n, t.db.Model(&Webhook{}).Where("team_id = ?", teamID).Count(&n).Error
}

// UpdateWebhook writes the changeable columns if the row still has the UpdatedAt
// that the caller saw. It returns false if another change came first.
func (t *Tx) UpdateWebhook(w Webhook, seen time.Time) (bool, error) {
	res := t.db.Model(&Webhook{}).Where("id = ? AND updated_at = ?", w.ID, seen).
		Select(
			"URL", "Description", "Events", "Enabled", "DisabledReason", "FailingSince", "Secret",
			"OldSecret", "OldSecretEndsAt", "UpdatedAt",
		).
		UpdateColumns(&w)
	return res.RowsAffected == 1, res.Error
}

// WebhookArrived clears the time since when a webhook has been failing.
func (t *Tx) WebhookArrived(id string) error {
	return t.db.
		Model(&Webhook{}).
		Where("id = ? AND failing_since IS NOT NULL", id).
		UpdateColumn("failing_since", nil).Error
}

// WebhookFailed records since when a webhook has been failing, unless it is already recorded.
func (t *Tx) WebhookFailed(id string, at time.Time) error {
	return t.db.Model(&Webhook{}).Where("id = ? AND failing_since IS NULL", id).UpdateColumn("failing_since", at).Error
}

// DisableWebhook turns off a webhook that has been failing since before the given time; false if it hasn't, or is
// already off.
func (t *Tx) DisableWebhook(id, reason string, failingBefore, now time.Time) (bool, error) {
	res := t.db.Model(&Webhook{}).Where("id = ? AND enabled AND failing_since <= ?", id, failingBefore).
		UpdateColumns(map[string]any{"enabled": false, "disabled_reason": reason, "updated_at": now})
	return res.RowsAffected == 1, res.Error
}

// DeleteWebhook removes a webhook and its deliveries.
func (t *Tx) DeleteWebhook(id string) error {
	if err := t.db.Where("webhook_id = ?", id).Delete(&WebhookDelivery{}).Error; err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&Webhook{}).Error
}

// DeliveryByID finds a delivery.
func (t *Tx) DeliveryByID(id string) (WebhookDelivery, error) {
	var d WebhookDelivery
	return d, t.db.Where("id = ?", id).Take(&d).Error
}

// DeliveryFilter chooses deliveries; empty fields choose all.
type DeliveryFilter struct{ State, Event string }

// DeliveriesOf lists the deliveries of a webhook, newest first.
func (t *Tx) DeliveriesOf(webhookID string, f DeliveryFilter, page Page) (List[WebhookDelivery], error) {
	q := t.db.Where("webhook_id = ?", webhookID)
	if f.State != "" {
		page.match = append(page.match, condition{"state = ?", []any{f.State}})
	}
	if f.Event != "" {
		page.match = append(page.match, condition{"event = ?", []any{f.Event}})
	}
	id := func(row WebhookDelivery) string { return row.ID }
	if page.Sort == (Sort{}) {
		return newestFirst(q, page, id)
	}
	return sorted(q, page, orders[WebhookDelivery]{"created": byID("id", id)}, "id", id)
}

// RecordDelivery writes the outcome of an attempt, unless the delivery is over
// already.
func (t *Tx) RecordDelivery(d WebhookDelivery) (bool, error) {
	res := t.db.
		Model(&WebhookDelivery{}).
		Where("id = ? AND state = 'pending'", d.ID).
		Select("State", "Attempts", "LastStatus", "LastError", "LastAnswer", "AttemptedAt", "FinishedAt").
		UpdateColumns(&d)
	return res.RowsAffected == 1, res.Error
}

// ReopenDelivery marks a finished delivery as pending again. It returns false if it is pending.
func (t *Tx) ReopenDelivery(id string) (bool, error) {
	res := t.db.Model(&WebhookDelivery{}).Where("id = ? AND state <> 'pending'", id).
		UpdateColumns(map[string]any{"state": "pending", "finished_at": nil})
	return res.RowsAffected == 1, res.Error
}

// DeleteDeliveriesBefore removes deliveries that finished before the given time.
func (t *Tx) DeleteDeliveriesBefore(at time.Time) error {
	return t.db.Where("finished_at < ?", at).Delete(&WebhookDelivery{}).Error
}
