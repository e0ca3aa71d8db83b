package handlers_test

import (
	"errors"
	"testing"

	"postern/models"
	"postern/webhooks"
)

// webhook makes a webhook of the team, with a delivery that has arrived.
func (o *office) webhook(t *testing.T) (hook, delivery string, err error) {
	t.Helper()
	made, _, err := o.server.Webhooks.Create(t.Context(), o.principal, webhooks.CreateInput{Team: o.team, URL: "http://8.8.8.8/hook"})
	at := models.Now()
	sent := models.WebhookDelivery{ID: models.NewID("msg"), WebhookID: made.ID, Event: webhooks.KeyCreated, Payload: "{}", State: webhooks.Delivered, CreatedAt: at, FinishedAt: &at}
	return made.ID, sent.ID, errors.Join(err, o.db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&sent) }))
}
