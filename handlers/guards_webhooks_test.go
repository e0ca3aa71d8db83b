package handlers_test

import "postern/service/access"

// webhookGuards are the routes of webhooks.
var webhookGuards = map[string]guard{
	"GET /settings/webhooks": {action: access.WebhookRead, outsider: 200},
	"POST /settings/webhooks": {
		action:   access.WebhookChange,
		body:     "url=http://8.8.8.8/hook&events=key.frozen",
		outsider: 303,
	},
	"GET /settings/webhooks/:webhook": {action: access.WebhookRead, needs: "webhook"},
	"POST /settings/webhooks/:webhook": {
		action: access.WebhookChange,
		needs:  "webhook",
		body:   "url=http://8.8.8.8/moved&events=key.frozen",
	},
	"POST /settings/webhooks/:webhook/switch": {
		action: access.WebhookChange,
		needs:  "webhook",
		body:   "enabled=false",
	},
	"POST /settings/webhooks/:webhook/rotate": {
		action: access.WebhookChange,
		needs:  "webhook",
		body:   "confirm=true",
	},
	"GET /settings/webhooks/:webhook/secret": {action: access.WebhookRead, needs: "webhook"},
	"POST /settings/webhooks/:webhook/delete": {
		action: access.WebhookChange,
		needs:  "webhook",
		body:   "confirm=true",
	},
	"POST /settings/webhooks/:webhook/test": {action: access.WebhookChange, needs: "webhook"},
	"GET /settings/webhooks/:webhook/deliveries/:delivery": {
		action: access.WebhookRead,
		needs:  "webhook",
	},
	"POST /settings/webhooks/:webhook/deliveries/:delivery/redeliver": {
		action: access.WebhookChange,
		needs:  "webhook",
	},

	"GET /api/v1/webhooks": {outsider: 200, otherKey: 403},
	"POST /api/v1/webhooks": {
		body: `{"url":"http://8.8.8.8/hook","team":"{team}"}`,
	},
	"GET /api/v1/webhooks/:webhook":                                 {needs: "webhook"},
	"PATCH /api/v1/webhooks/:webhook":                               {needs: "webhook", body: `{"enabled":false}`},
	"POST /api/v1/webhooks/:webhook/rotate":                         {needs: "webhook"},
	"DELETE /api/v1/webhooks/:webhook":                              {needs: "webhook"},
	"GET /api/v1/webhooks/:webhook/deliveries":                      {needs: "webhook"},
	"POST /api/v1/webhooks/:webhook/test":                           {needs: "webhook"},
	"GET /api/v1/webhooks/:webhook/deliveries/:delivery":            {needs: "webhook"},
	"POST /api/v1/webhooks/:webhook/deliveries/:delivery/redeliver": {needs: "webhook"},
}
