package api

import (
	"context"
	"encoding/json"
	"time"

	"postern/handlers/web"
	"postern/models"
	"postern/platform/secrets"
	"postern/service/webhooks"
)

// WebhookRef is the path parameter of a webhook.
type WebhookRef struct {
	Webhook string `path:"webhook" doc:"Id of the webhook"`
}

type webhookOutput struct {
	ID                 string     `json:"id"`
	Team               string     `json:"team" doc:"Id of the team whose events it receives"`
	URL                string     `json:"url"`
	Description        string     `json:"description"`
	Events             []string   `json:"events"`
	Enabled            bool       `json:"enabled"`
	DisabledReason     *string    `json:"disabled_reason" doc:"Why Postern disabled it; null: it did not"`
	FailingSince       *time.Time `json:"failing_since" doc:"Start of the current failures; null: none"`
	OldSecretExpiresAt *time.Time `json:"old_secret_expires_at" doc:"When the secret before the last rotation stops signing"`
	CreatedAt          time.Time  `json:"created_at"`
	ETag               string     `json:"etag" doc:"Send as If-Match to update the webhook"`
	Secret             string     `json:"secret,omitempty" doc:"Signing secret (Standard Webhooks, whsec_…); returned only once"`
}

func showWebhook(w webhooks.Webhook, secret secrets.Secret) webhookOutput {
	out := webhookOutput{
		ID:                 w.ID,
		Team:               w.Team,
		URL:                w.URL,
		Description:        w.Description,
		Events:             w.Events,
		Enabled:            w.Enabled,
		FailingSince:       utc(w.FailingSince),
		OldSecretExpiresAt: utc(w.OldSecretEndsAt),
		CreatedAt:          w.CreatedAt.UTC(),
		ETag:               w.ETag,
		Secret:             secret.Reveal(),
	}
	if w.DisabledReason != "" {
		out.DisabledReason = &w.DisabledReason
	}
	return out
}

type deliveryOutput struct {
	ID          string          `json:"id" doc:"webhook-id header, the same for every attempt"`
	Webhook     string          `json:"webhook"`
	Event       string          `json:"event"`
	Payload     json.RawMessage `json:"payload" doc:"Body of the delivery"`
	State       string          `json:"state" enum:"pending,delivered,failed"`
	Attempts    int64           `json:"attempts"`
	LastStatus  *int64          `json:"last_status" doc:"Status of the last response; null: none"`
	LastError   *string         `json:"last_error" doc:"Error of the last attempt; null: none"`
	LastAnswer  string          `json:"last_answer" doc:"First 1,024 bytes of the last response's body"`
	CreatedAt   time.Time       `json:"created_at"`
	AttemptedAt *time.Time      `json:"attempted_at"`
	NextAttempt *time.Time      `json:"next_attempt_at" doc:"When a failed delivery is tried again; null: not"`
	FinishedAt  *time.Time      `json:"finished_at"`
}

func showDelivery(d webhooks.Delivery) deliveryOutput {
	out := deliveryOutput{
		ID:          d.ID,
		Webhook:     d.Webhook,
		Event:       d.Event,
		Payload:     json.RawMessage(d.Payload),
		State:       d.State,
		Attempts:    d.Attempts,
		CreatedAt:   d.CreatedAt.UTC(),
		LastAnswer:  d.LastAnswer,
		AttemptedAt: utc(d.AttemptedAt),
		NextAttempt: utc(d.NextAttempt),
		FinishedAt:  utc(d.FinishedAt),
	}
	if d.LastStatus != 0 {
		out.LastStatus = &d.LastStatus
	}
	if d.LastError != "" {
		out.LastError = &d.LastError
	}
	return out
}

func (h *Handler) listWebhooks(ctx context.Context, in *struct {
	Page
	State string `query:"state" enum:"on,off,failing" doc:"failing: on, and its deliveries fail"`
	Sort  string `query:"sort" enum:"created,-created,url,-url" doc:"Order; - begins at the end; default: -created"`
	Text  string `query:"q" maxLength:"200" doc:"Part of the URL or the description, ignoring case"`
}) (*body[list[webhookOutput]], error) {
	found, err := h.Webhooks.List(ctx, web.Principal(ctx), in.State, in.sorted(in.Sort, in.Text))
	return answerPage(found, err, func(w webhooks.Webhook) webhookOutput { return showWebhook(w, "") })
}

func (h *Handler) createWebhook(ctx context.Context, in *struct {
	Body struct {
		URL         string   `json:"url" doc:"http or https URL that receives events as POST"`
		Description string   `json:"description,omitempty"`
		Events      []string `json:"events,omitempty" doc:"Event types; default: all"`
		Team        string   `json:"team,omitempty" minLength:"1" doc:"Id of the team whose events it receives; default: your first team"`
	}
}) (*tagged[webhookOutput], error) {
	b := in.Body
	w, secret, err := h.Webhooks.Create(ctx, web.Principal(ctx), webhooks.CreateInput{
		Team:        b.Team,
		URL:         b.URL,
		Description: b.Description,
		Events:      b.Events,
	})
	return answerWebhook(w, secret, err)
}

func answerWebhook(w webhooks.Webhook, secret secrets.Secret, err error) (*tagged[webhookOutput], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[webhookOutput]{ETag: web.FormatETag(w.ETag), Body: showWebhook(w, secret)}, nil
}

func (h *Handler) getWebhook(ctx context.Context, in *WebhookRef) (*tagged[webhookOutput], error) {
	w, err := h.Webhooks.Get(ctx, web.Principal(ctx), in.Webhook)
	return answerWebhook(w, "", err)
}

func (h *Handler) updateWebhook(ctx context.Context, in *struct {
	WebhookRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		URL         *string   `json:"url,omitempty"`
		Description *string   `json:"description,omitempty"`
		Events      *[]string `json:"events,omitempty"`
		Enabled     *bool     `json:"enabled,omitempty"`
	}
}) (*tagged[webhookOutput], error) {
	b := in.Body
	w, err := h.Webhooks.Update(ctx, web.Principal(ctx), in.Webhook, web.ParseIfMatch(in.IfMatch), webhooks.Change{
		URL:         b.URL,
		Description: b.Description,
		Events:      b.Events,
		Enabled:     b.Enabled,
	})
	return answerWebhook(w, "", err)
}

func (h *Handler) rotateWebhook(ctx context.Context, in *struct {
	WebhookRef
	Body *struct {
		OverlapSeconds *int64 `json:"overlap_seconds,omitempty" doc:"How long the old secret signs too; default 86400, 0: not at all"`
	} `required:"false"`
}) (*tagged[webhookOutput], error) {
	overlap := webhooks.DefaultOverlap
	if in.Body != nil && in.Body.OverlapSeconds != nil {
		seconds := *in.Body.OverlapSeconds
		if seconds < 0 || seconds > int64(webhooks.MaxOverlap/time.Second) {
			seconds = -1 // out of range, and a product of it could wrap back into it
		}
		overlap = time.Duration(seconds) * time.Second
	}
	w, secret, err := h.Webhooks.Rotate(ctx, web.Principal(ctx), in.Webhook, "", overlap)
	return answerWebhook(w, secret, err)
}

func (h *Handler) deleteWebhook(ctx context.Context, in *WebhookRef) (*struct{}, error) {
	return nil, h.Webhooks.Delete(ctx, web.Principal(ctx), in.Webhook)
}

func (h *Handler) listDeliveries(ctx context.Context, in *struct {
	WebhookRef
	Page
	State string `query:"state" enum:"pending,delivered,failed"`
	Event string `query:"event" maxLength:"200" doc:"Event type, such as key.frozen"`
	Sort  string `query:"sort" enum:"created,-created" doc:"Order; - begins at the end; default: -created"`
}) (*body[list[deliveryOutput]], error) {
	filter := models.DeliveryFilter{State: in.State, Event: in.Event}
	found, err := h.Webhooks.Deliveries(ctx, web.Principal(ctx), in.Webhook, filter, in.sorted(in.Sort, ""))
	return answerPage(found, err, showDelivery)
}

// DeliveryRef is the path of a delivery.
type DeliveryRef struct {
	WebhookRef
	Delivery string `path:"delivery" doc:"Id of the delivery"`
}

func (h *Handler) getDelivery(ctx context.Context, in *DeliveryRef) (*body[deliveryOutput], error) {
	return answerDelivery(h.Webhooks.Delivery(ctx, web.Principal(ctx), in.Webhook, in.Delivery))
}

func (h *Handler) testWebhook(ctx context.Context, in *WebhookRef) (*body[deliveryOutput], error) {
	return answerDelivery(h.Webhooks.SendTest(ctx, web.Principal(ctx), in.Webhook))
}

func (h *Handler) redeliver(ctx context.Context, in *DeliveryRef) (*body[deliveryOutput], error) {
	return answerDelivery(h.Webhooks.Redeliver(ctx, web.Principal(ctx), in.Webhook, in.Delivery))
}

func answerDelivery(d webhooks.Delivery, err error) (*body[deliveryOutput], error) {
	if err != nil {
		return nil, err
	}
	return &body[deliveryOutput]{showDelivery(d)}, nil
}
