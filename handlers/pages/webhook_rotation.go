package pages

import (
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/views/ui"
	pages "postern/views/webhooks"
)

// webhookRotation asks before a webhook gets a new secret.
func webhookRotation(w contract.Webhook) ui.Confirmation {
	c := ui.Confirmation{
		ID:     "rotate-confirm",
		Action: webhookPath(w.ID) + "/rotate",
		Verb:   "Rotate",
		Kind:   "secret",
		Impact: []string{
			"Deliveries are signed with both secrets for " + lifetimeText(int64(webhooks.DefaultOverlap.Seconds())) +
				". A receiver that doesn't have the new secret by then will refuse them.",
		},
		Undo:     "You can't keep the old secret any longer.",
		ByButton: true,
	}
	if w.OldSecretExpiresAt != nil && w.OldSecretExpiresAt.After(time.Now()) {
		until := moment(*w.OldSecretExpiresAt)
		c.Impact = append(c.Impact, "The previous secret, which signs until "+until+", ends now.")
	}
	return c
}

func (h *Handler) rotateWebhook(v *visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.ctx(), v.who, webhookIn(v))
	if err == nil {
		err = access.Check(v.who, w.Team, access.WebhookChange)
	}
	if err == nil {
		err = v.confirmed("Confirm that you want a new secret for this webhook.")
	}
	var rotated contract.WebhookWithSecret
	if err == nil {
		rotated, err = h.Webhooks.Rotate(v.ctx(), v.who, contract.WebhookRotation{
			WebhookPath: webhookIn(v),
			Condition:   contract.Condition{IfMatch: v.state},
		})
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
	shown := disclosed{Heading: "New secret", Secret: rotated.Secret.Reveal()}
	return v.disclose(webhookSecretPath(rotated.ID), shown)
}
