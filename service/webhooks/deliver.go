package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/secrets"
	"postern/service/access"
)

const (
	// attemptFor bounds one attempt, from name resolution to the response's header.
	attemptFor = 10 * time.Second

	// disableAfter is how long every delivery has to fail before a webhook is disabled.
	disableAfter = 5 * 24 * time.Hour

	// maxAnswer bounds the part of an answer's body that is kept, in bytes.
	maxAnswer = 1024

	// KeepFor is how long a finished delivery is kept.
	KeepFor = 30 * 24 * time.Hour
)

// backoff is the wait before each attempt after the first: about three days in
// all, as the specification suggests.
var backoff = []time.Duration{
	5 * time.Second,
	5 * time.Minute,
	30 * time.Minute,
	2 * time.Hour,
	5 * time.Hour,
	10 * time.Hour,
	14 * time.Hour,
	20 * time.Hour,
	24 * time.Hour,
}

// Attempts returns how often a delivery is attempted.
func Attempts() int { return len(backoff) + 1 }

// RetryAfter returns the wait after a failed attempt, counted from 1.
func RetryAfter(attempt int) time.Duration { return backoff[min(max(attempt, 1), len(backoff))-1] }

// payload is the body that is sent (Standard Webhooks, "Payload structure").
type payload struct {
	Type      string         `json:"type"`
	Timestamp time.Time      `json:"timestamp"`
	Data      map[string]any `json:"data"`
}

// Emit queues an event for the team's enabled webhooks that subscribe to it. It
// writes in the caller's transaction, so an event is delivered if and only if its
// change is committed. data holds ids and nothing secret.
func (s *Service) Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error {
	hooks, err := tx.WebhooksOf(team)
	if err != nil {
		return fmt.Errorf("webhooks: emit %s: %w", event, err)
	}
	now := models.Now()
	for _, hook := range hooks {
		if !hook.Enabled || !slices.Contains(hook.Events, event) {
			continue
		}
		text, err := json.Marshal(payload{Type: event, Timestamp: now.UTC(), Data: data})
		if err != nil {
			return fmt.Errorf("webhooks: emit %s: %w", event, err)
		}
		row := models.WebhookDelivery{
			ID:        models.NewID("msg"),
			WebhookID: hook.ID,
			Event:     event,
			Payload:   string(text),
			State:     contract.DeliveryPending,
			CreatedAt: now,
		}
		if err := tx.Insert(&row); err != nil {
			return fmt.Errorf("webhooks: emit %s: %w", event, err)
		}
		if err := s.Jobs.EnqueueDelivery(ctx, tx, row.ID); err != nil {
			return fmt.Errorf("webhooks: emit %s: %w", event, err)
		}
	}
	return nil
}

// Deliver attempts a delivery once and records its outcome. It returns an error if another attempt is due; final marks
// the last one. It does nothing for a finished delivery or a deleted webhook, and ends the delivery of a disabled one.
func (s *Service) Deliver(ctx context.Context, id string, final bool) error {
	tx := s.DB.Read(ctx)
	row, err := tx.DeliveryByID(id)
	if errors.Is(err, models.ErrNotFound) || err == nil && row.State != contract.DeliveryPending {
		return nil
	}
	if err != nil {
		return fmt.Errorf("webhooks: deliver %s: %w", id, err)
	}
	hook, err := tx.WebhookByID(row.WebhookID)
	if errors.Is(err, models.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("webhooks: deliver %s: %w", id, err)
	}
	if !hook.Enabled {
		row.LastError = "the webhook was turned off"
		return s.record(ctx, hook, row, true, false)
	}
	keys, err := s.keysOf(tx, hook)
	if err != nil {
		return fmt.Errorf("webhooks: deliver %s: %w", id, err)
	}
	final = final || row.Event == TestEvent
	status, answer, failed := s.post(ctx, hook, row, keys)
	if ctx.Err() != nil {
		return ctx.Err() // we are being stopped: that is not the receiver's fault, and the job comes again
	}
	now := models.Now()
	row.Attempts++
	row.AttemptedAt, row.LastStatus, row.LastError, row.LastAnswer = &now, int64(status), "", answer
	if failed != nil {
		row.LastError = reason(failed)
	}
	if err := s.record(ctx, hook, row, final || failed == nil || status == http.StatusGone, failed == nil); err != nil {
		return err
	}
	if failed == nil || final || status == http.StatusGone {
		return nil
	}
	return fmt.Errorf("webhooks: deliver %s: attempt %d: %s", id, row.Attempts, row.LastError)
}

// post sends a delivery and returns the status of the response and the beginning of its body.
func (s *Service) post(
	ctx context.Context, hook models.Webhook, row models.WebhookDelivery, keys []secrets.Secret,
) (status int, answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptFor)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, hook.URL, strings.NewReader(row.Payload))
	if err != nil {
		return 0, "", err
	}
	now := time.Now()
	signatures := make([]string, 0, len(keys))
	for _, key := range keys {
		signature, err := sign(key, row.ID, now, []byte(row.Payload))
		if err != nil {
			return 0, "", err
		}
		signatures = append(signatures, signature)
	}
	request.Header = http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        {"Postern-Webhooks"},
		"Webhook-Id":        {row.ID},
		"Webhook-Timestamp": {strconv.FormatInt(now.Unix(), 10)},
		"Webhook-Signature": {strings.Join(signatures, " ")},
	}
	response, err := s.Client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		err = errStatus
	}
	return response.StatusCode, beginning(response.Body), err
}

// beginning returns the first maxAnswer bytes of a body as text that a database can keep: valid UTF-8 without NUL. The
// part of the body that arrives before it breaks off is kept.
func beginning(body io.Reader) string {
	text, _ := io.ReadAll(io.LimitReader(body, maxAnswer))
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\uFFFD"), "\x00", "\uFFFD")
}

var errStatus = errors.New("the receiver didn't respond with 2xx")

// sign returns the signature of a message with one secret (Standard Webhooks,
// "Signature scheme").
func sign(secret secrets.Secret, id string, at time.Time, body []byte) (string, error) {
	signer, err := standardwebhooks.NewWebhook(secret.Reveal())
	if err != nil {
		return "", errors.New("the secret isn't whsec_ followed by base64") // the cause may quote the secret
	}
	return signer.Sign(id, at, body)
}

// keysOf returns the secrets that sign now, the newest first.
func (s *Service) keysOf(tx *models.Tx, hook models.Webhook) ([]secrets.Secret, error) {
	current, err := s.Vault.Open(tx, secretOf(hook.ID), hook.Secret)
	if err != nil {
		return nil, err
	}
	keys := []secrets.Secret{current}
	if hook.OldSecret != nil && hook.OldSecretEndsAt != nil && hook.OldSecretEndsAt.After(models.Now()) {
		old, err := s.Vault.Open(tx, oldSecretOf(hook.ID), hook.OldSecret)
		if err != nil {
			return nil, err
		}
		keys = append(keys, old)
	}
	return keys, nil
}

// reason describes a failed attempt to the team. It hides the network error itself,
// which can reveal addresses of the installation's network.
func reason(err error) string {
	timeout, isNet := errors.AsType[net.Error](err)
	_, isName := errors.AsType[*net.DNSError](err)
	switch {
	case errors.Is(err, errStatus):
		return "the receiver didn't respond with 2xx"
	case errors.Is(err, egress.ErrForbidden):
		return "the address isn't allowed"
	case errors.Is(err, context.DeadlineExceeded) || isNet && timeout.Timeout():
		return "the receiver didn't respond in time"
	case isName:
		return "the host name has no address"
	}
	return "the receiver could not be reached"
}

// record writes the outcome of an attempt and updates the webhook's health.
func (s *Service) record(
	ctx context.Context, hook models.Webhook, row models.WebhookDelivery, over, arrived bool,
) error {
	now := models.Now()
	if over {
		row.State, row.FinishedAt = contract.DeliveryFailed, &now
	}
	if arrived {
		row.State = contract.DeliveryDelivered
	}
	disabled := false
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		if recorded, err := tx.RecordDelivery(row); err != nil || !recorded {
			return err
		}
		if arrived {
			return tx.WebhookArrived(hook.ID)
		}
		if row.Event == TestEvent {
			return nil
		}
		if row.LastStatus == http.StatusGone { // the receiver asks for no further deliveries
			if err := tx.WebhookFailed(hook.ID, now); err != nil {
				return err
			}
			return s.disable(tx, hook, "the receiver returned 410 Gone", now, now, &disabled)
		}
		if err := tx.WebhookFailed(hook.ID, now); err != nil {
			return err
		}
		return s.disable(tx, hook, "no delivery has succeeded for five days", now.Add(-disableAfter), now, &disabled)
	})
	if err != nil {
		return fmt.Errorf("webhooks: record the delivery %s: %w", row.ID, err)
	}
	if disabled {
		s.Log.WarnContext(ctx, "turned off a webhook",
			"webhook", hook.ID, "team", hook.TeamID, "last_error", row.LastError)
	}
	return nil
}

func (s *Service) disable(
	tx *models.Tx, hook models.Webhook, why string, failingBefore, now time.Time, done *bool,
) error {
	var err error
	if *done, err = tx.DisableWebhook(hook.ID, why, failingBefore, now); err != nil || !*done {
		return err
	}
	return access.Record(tx, access.System(), access.Entry{
		Action: access.WebhookDisable,
		Object: hook.ID,
		Name:   nameOf(hook),
		Team:   hook.TeamID,
		Detail: map[string]string{"reason": why},
	})
}

// Upkeep deletes deliveries that finished more than KeepFor ago.
func (s *Service) Upkeep(ctx context.Context) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.DeleteDeliveriesBefore(models.Now().Add(-KeepFor)) })
	if err != nil {
		return fmt.Errorf("webhooks: delete old deliveries: %w", err)
	}
	return nil
}
