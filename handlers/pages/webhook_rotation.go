package pages

import (
	"time"

	"postern/core/contract"
	"postern/handlers/page"
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
			"Deliveries are signed with both secrets for " + page.LifetimeText(
				int64(webhooks.DefaultOverlap.Seconds()),
			) +
				". A receiver that doesn't have the new secret by then will refuse them.",
		},
		Undo:     "You can't keep the old secret any longer.",
		ByButton: true,
	}
	if w.OldSecretExpiresAt != nil && w.OldSecretExpiresAt.After(time.Now()) {
		until := page.Moment(*w.OldSecretExpiresAt)
		c.Impact = append(c.Impact, "The previous secret, which signs until "+until+", ends now.")
	}
	return c
}

func (h *Handler) rotateWebhook(v *page.Visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.Ctx(), v.Who, webhookIn(v))
	if err == nil {
		err = access.Check(v.Who, w.Team, access.WebhookChange)
	}
	if err == nil {
		err = v.Confirmed("Confirm that you want a new secret for this webhook.")
	}
	var rotated contract.WebhookWithSecret
	if err == nil {
		rotated, err = h.Webhooks.Rotate(v.Ctx(), v.Who, contract.WebhookRotation{
			WebhookPath: webhookIn(v),
			Condition:   contract.Condition{IfMatch: v.State},
		})
	}
	if wrong, ok := page.ErrorsIn(page.RotatedMeanwhile(err)); ok {
		m, err := h.webhookNow(v)
		v.Refuse(wrong, &m.Rotate)
		if text := wrong.Rest(); text != "" {
			m.Notice = &ui.Notice{Tone: ui.Bad, Text: text}
		}
		return web.Answer{Status: wrong.Status, Page: pages.DetailPage(m)}, err
	}
	if err != nil {
		return web.Answer{}, err
	}
	shown := page.Disclosed{Heading: "New secret", Secret: rotated.Secret.Reveal()}
	return v.Disclose(webhookSecretPath(rotated.ID), shown)
}
