// Package webhooks serves the pages of a team's webhook endpoints and their deliveries.
//
// It leaves signing, delivery and permissions to service/webhooks.
package webhooks

import (
	"postern/handlers/page"
	"postern/service/webhooks"
)

// Handler serves the pages of webhooks.
type Handler struct {
	Webhooks *webhooks.Service
}

// Mount mounts the pages of webhooks.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", webhooksPath, h.showWebhooks)
	p.SecretForm(webhooksPath, h.createWebhook, "description events team url")
	p.SignedIn("GET", webhooksPath+"/:webhook", h.showWebhook)
	p.SignedIn("POST", webhooksPath+"/:webhook", h.saveWebhook, "description events url")
	p.SignedIn("POST", webhooksPath+"/:webhook/switch", h.switchWebhook, "enabled")
	p.SecretForm(webhooksPath+"/:webhook/rotate", h.rotateWebhook)
	p.SignedIn("GET", webhooksPath+"/:webhook/secret", h.showWebhookSecret)
	p.SignedIn("POST", webhooksPath+"/:webhook/delete", h.deleteWebhook)
	p.SignedIn("POST", webhooksPath+"/:webhook/test", h.testWebhook)
	p.SignedIn("GET", webhooksPath+"/:webhook/deliveries/:delivery", h.showDelivery)
	p.SignedIn("POST", webhooksPath+"/:webhook/deliveries/:delivery/redeliver", h.redeliver)
}
