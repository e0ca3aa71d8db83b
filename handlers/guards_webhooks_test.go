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

	"GET /api/v1/webhooks": {action: access.WebhookRead, outsider: 200, otherKey: 403},
	"POST /api/v1/webhooks": {
		action: access.WebhookChange,
		body:   `{"url":"http://8.8.8.8/hook","team":"{team}"}`,
		owner:  201,
	},
	"GET /api/v1/webhooks/:webhook": {action: access.WebhookRead, needs: "webhook"},
	"PATCH /api/v1/webhooks/:webhook": {
		action: access.WebhookChange,
		needs:  "webhook",
		body:   `{"enabled":false}`,
	},
	"POST /api/v1/webhooks/:webhook/rotate":    {action: access.WebhookChange, needs: "webhook"},
	"DELETE /api/v1/webhooks/:webhook":         {action: access.WebhookChange, needs: "webhook", owner: 204},
	"GET /api/v1/webhooks/:webhook/deliveries": {action: access.WebhookRead, needs: "webhook"},
	"POST /api/v1/webhooks/:webhook/test":      {action: access.WebhookChange, needs: "webhook", owner: 202},
	"GET /api/v1/webhooks/:webhook/deliveries/:delivery": {
		action: access.WebhookRead,
		needs:  "webhook",
	},
	"POST /api/v1/webhooks/:webhook/deliveries/:delivery/redeliver": {
		action: access.WebhookChange,
		needs:  "webhook",
	},
}

// webhookAnonymous is what a caller without a credential gets.
var webhookAnonymous = map[string]string{
	"GET /settings/webhooks":                                          "in",
	"POST /settings/webhooks":                                         "in",
	"GET /settings/webhooks/:webhook":                                 "in",
	"POST /settings/webhooks/:webhook":                                "in",
	"POST /settings/webhooks/:webhook/switch":                         "in",
	"POST /settings/webhooks/:webhook/rotate":                         "in",
	"POST /settings/webhooks/:webhook/delete":                         "in",
	"POST /settings/webhooks/:webhook/test":                           "in",
	"GET /settings/webhooks/:webhook/deliveries/:delivery":            "in",
	"POST /settings/webhooks/:webhook/deliveries/:delivery/redeliver": "in",
	"GET /settings/webhooks/:webhook/secret":                          "in",
	"GET /api/v1/webhooks":                                            "401",
	"POST /api/v1/webhooks":                                           "401",
	"GET /api/v1/webhooks/:webhook":                                   "401",
	"PATCH /api/v1/webhooks/:webhook":                                 "401",
	"POST /api/v1/webhooks/:webhook/rotate":                           "401",
	"DELETE /api/v1/webhooks/:webhook":                                "401",
	"GET /api/v1/webhooks/:webhook/deliveries":                        "401",
	"POST /api/v1/webhooks/:webhook/test":                             "401",
	"GET /api/v1/webhooks/:webhook/deliveries/:delivery":              "401",
	"POST /api/v1/webhooks/:webhook/deliveries/:delivery/redeliver":   "401",
}
