package handlers_test

import (
	"errors"
	"maps"
	"testing"

	"postern/models"
	"postern/webhooks"
)

// webhookGuards declares the routes of webhooks.
var webhookGuards = map[string]guard{
	"GET /api/v1/webhooks":                                          {stranger: 200, key: 403},
	"POST /api/v1/webhooks":                                         {body: `{"url":"http://8.8.8.8/hook","team":"{team}"}`, owner: 201},
	"GET /api/v1/webhooks/:webhook":                                 {needs: "webhook"},
	"PATCH /api/v1/webhooks/:webhook":                               {needs: "webhook", body: `{"enabled":false}`},
	"POST /api/v1/webhooks/:webhook/rotate":                         {needs: "webhook"},
	"DELETE /api/v1/webhooks/:webhook":                              {needs: "webhook", owner: 204},
	"GET /api/v1/webhooks/:webhook/deliveries":                      {needs: "webhook"},
	"POST /api/v1/webhooks/:webhook/deliveries/:delivery/redeliver": {needs: "webhook"},

	"GET /settings/webhooks":                                          {stranger: 200},
	"POST /settings/webhooks":                                         {body: "url=http://8.8.8.8/hook&events=key.frozen", stranger: 201, owner: 201},
	"GET /settings/webhooks/:webhook":                                 {needs: "webhook"},
	"POST /settings/webhooks/:webhook":                                {needs: "webhook", body: "url=http://8.8.8.8/moved&events=key.frozen"},
	"POST /settings/webhooks/:webhook/switch":                         {needs: "webhook", body: "enabled=false"},
	"POST /settings/webhooks/:webhook/rotate":                         {needs: "webhook", owner: 200},
	"POST /settings/webhooks/:webhook/delete":                         {needs: "webhook"},
	"POST /settings/webhooks/:webhook/deliveries/:delivery/redeliver": {needs: "webhook"},
}

func joined(tables ...map[string]guard) map[string]guard {
	all := map[string]guard{}
	for _, table := range tables {
		maps.Copy(all, table)
	}
	return all
}

// webhook makes a webhook of the team, with a delivery that has arrived.
func (o *office) webhook(t *testing.T) (hook, delivery string, err error) {
	t.Helper()
	made, _, err := o.server.Webhooks.Create(t.Context(), o.principal, webhooks.CreateInput{Team: o.team, URL: "http://8.8.8.8/hook"})
	at := models.Now()
	sent := models.WebhookDelivery{ID: models.NewID("msg"), WebhookID: made.ID, Event: webhooks.KeyCreated, Payload: "{}", State: webhooks.Delivered, CreatedAt: at, FinishedAt: &at}
	return made.ID, sent.ID, errors.Join(err, o.db.Write(t.Context(), func(tx *models.Tx) error { return tx.Insert(&sent) }))
}
