package webhooks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// TestEvent is the event that SendTest sends. Webhooks cannot subscribe to it.
const TestEvent = "webhook.test"

var errTurnedOff = fault.New(fault.Conflict, "webhook_disabled", "This webhook is off. Turn it on first.")

// Delivery returns one delivery of a webhook.
func (s *Service) Delivery(
	ctx context.Context, p access.Principal, in contract.DeliveryPath,
) (contract.Delivery, error) {
	tx := s.DB.Read(ctx)
	_, row, err := findDelivery(tx, p, in, access.WebhookRead)
	if err != nil {
		return contract.Delivery{}, fmt.Errorf("webhooks: delivery %s: %w", in.Delivery, err)
	}
	return shownDelivery(row), nil
}

func findDelivery(
	tx *models.Tx, p access.Principal, in contract.DeliveryPath, action access.Action,
) (models.Webhook, models.WebhookDelivery, error) {
	webhook, err := find(tx, p, in.Webhook, action)
	if err != nil {
		return webhook, models.WebhookDelivery{}, err
	}
	row, err := tx.DeliveryByID(in.Delivery)
	if errors.Is(err, models.ErrNotFound) || err == nil && row.WebhookID != webhook.ID {
		err = access.NotFound()
	}
	return webhook, row, err
}

// SendTest queues a TestEvent for one webhook, whichever events it subscribes to. It is attempted once, and its
// failure does not count against the webhook. Conflict webhook_disabled for one that is turned off, TooMany for a team
// or an address that asks for too many.
func (s *Service) SendTest(
	ctx context.Context, p access.Principal, in contract.WebhookPath,
) (contract.Delivery, error) {
	id := in.Webhook
	var row models.WebhookDelivery
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		webhook, err := find(tx, p, id, access.WebhookChange)
		if err != nil {
			return err
		}
		if !webhook.Enabled {
			return errTurnedOff
		}
		if err := s.Outbound.Take(p, webhook.TeamID); err != nil {
			return err
		}
		now := models.Now()
		text, err := json.Marshal(payload{
			Type:      TestEvent,
			Timestamp: now.UTC(),
			Data:      map[string]any{"webhook": webhook.ID},
		})
		if err != nil {
			return err
		}
		row = models.WebhookDelivery{
			ID:        models.NewID("msg"),
			WebhookID: webhook.ID,
			Event:     TestEvent,
			Payload:   string(text),
			State:     contract.DeliveryPending,
			CreatedAt: now,
		}
		if err := tx.Insert(&row); err != nil {
			return err
		}
		type outcome struct{ State string }
		entry := access.Entry{
			Action: access.WebhookChange,
			Object: in.Webhook,
			Name:   nameOf(webhook),
			Team:   webhook.TeamID,
			Detail: map[string]string{"change": "test", "delivery": row.ID},
			Before: outcome{},
			After:  outcome{row.State},
		}
		if err := access.Record(tx, p, entry); err != nil {
			return err
		}
		return s.Jobs.EnqueueDelivery(ctx, tx, row.ID)
	})
	if err != nil {
		return contract.Delivery{}, fmt.Errorf("webhooks: test %s: %w", id, err)
	}
	return shownDelivery(row), nil
}

// Redeliver queues a finished delivery again under the same id, by which a receiver recognizes a message that it has
// already. It returns Conflict webhook_disabled or delivery_pending, and TooMany for a team or an address that asks for
// too many.
func (s *Service) Redeliver(
	ctx context.Context, p access.Principal, in contract.DeliveryPath,
) (contract.Delivery, error) {
	delivery := in.Delivery
	var out contract.Delivery
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		webhook, row, err := findDelivery(tx, p, in, access.WebhookChange)
		if err != nil {
			return err
		}
		if !webhook.Enabled {
			return errTurnedOff
		}
		if err := s.Outbound.Take(p, webhook.TeamID); err != nil {
			return err
		}
		reopened, err := tx.ReopenDelivery(delivery)
		if err != nil {
			return err
		}
		if !reopened {
			return fault.New(fault.Conflict, "delivery_pending", "This delivery is already pending.")
		}
		type outcome struct{ State string }
		was := outcome{row.State}
		row.State, row.FinishedAt = contract.DeliveryPending, nil
		out = shownDelivery(row)
		entry := access.Entry{
			Action: access.WebhookChange,
			Object: in.Webhook,
			Name:   nameOf(webhook),
			Team:   webhook.TeamID,
			Detail: map[string]string{"change": "redeliver", "delivery": delivery},
			Before: was,
			After:  outcome{row.State},
		}
		if err := access.Record(tx, p, entry); err != nil {
			return err
		}
		return s.Jobs.EnqueueDelivery(ctx, tx, delivery)
	})
	if err != nil {
		return contract.Delivery{}, fmt.Errorf("webhooks: redeliver %s: %w", delivery, err)
	}
	return out, nil
}
