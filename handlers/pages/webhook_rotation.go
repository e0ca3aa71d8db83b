package pages

import (
	"time"

	"postern/handlers/web"
	"postern/platform/secrets"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/views/ui"
	pages "postern/views/webhooks"
)

// webhookRotation asks before a webhook gets a new secret.
func webhookRotation(w webhooks.Webhook) ui.Confirmation {
	c := ui.Confirmation{
		ID:     "rotate-confirm",
		Action: webhookPath(w.ID) + "/rotate",
		Verb:   "Rotate",
		Kind:   "secret",
		Impact: []string{
			"Deliveries are signed with both secrets for " + lifetimeText(int64(webhooks.DefaultOverlap.Seconds())) +
				". A receiver that does not have the new one by then refuses them.",
		},
		Undo:     "The old secret cannot be kept for longer.",
		ByButton: true,
	}
	if w.OldSecretEndsAt != nil && w.OldSecretEndsAt.After(time.Now()) {
		c.Impact = append(c.Impact, "The secret before it, which signs until "+moment(*w.OldSecretEndsAt)+", ends now.")
	}
	return c
}

func (h *Handler) rotateWebhook(v *visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.ctx(), v.who, v.param("webhook"))
	if err == nil {
		err = access.Check(v.who, w.Team, access.WebhookChange)
	}
	if err == nil {
		err = v.confirmed("Confirm that the webhook gets a new secret.")
	}
	var secret secrets.Secret
	if err == nil {
		w, secret, err = h.Webhooks.Rotate(v.ctx(), v.who, w.ID, v.state, webhooks.DefaultOverlap)
	}
	if wrong, ok := formErrorsIn(rotatedMeanwhile(err)); ok {
		m, err := h.webhookNow(v)
		v.refuse(wrong, &m.Rotate)
		if text := wrong.rest(); text != "" {
			m.Notice = &ui.Notice{Tone: ui.Bad, Text: text}
		}
		return web.Answer{Status: wrong.status, Page: pages.DetailPage(m)}, err
	}
	if err != nil {
		return web.Answer{}, err
	}
	return h.disclose(v, webhookSecretPath(w.ID), disclosed{Heading: "New secret", Secret: secret.Reveal()})
}
