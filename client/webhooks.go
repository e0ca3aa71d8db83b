package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"
)

// Webhook is an address that a team's events are sent to. Secret, the signing secret,
// is set only in the responses to creation and rotation.
type Webhook struct {
	ID                 string     `json:"id"`
	Team               string     `json:"team"`
	URL                string     `json:"url"`
	Description        string     `json:"description"`
	Events             []string   `json:"events"`
	Enabled            bool       `json:"enabled"`
	DisabledReason     *string    `json:"disabled_reason"` // nil unless the server turned it off
	FailingSince       *time.Time `json:"failing_since"`   // nil while deliveries succeed
	OldSecretExpiresAt *time.Time `json:"old_secret_expires_at"`
	CreatedAt          time.Time  `json:"created_at"`
	ETag               string     `json:"etag"` // for If-Match
	Secret             string     `json:"secret,omitempty"`
}

// NewWebhook is a request for a webhook.
type NewWebhook struct {
	URL         string   `json:"url"`
	Description string   `json:"description,omitempty"`
	Events      []string `json:"events,omitempty"` // all when empty
	Team        string   `json:"team,omitempty"`   // the account's first when empty
}

// WebhookChange changes a webhook; nil leaves a field as it is.
type WebhookChange struct {
	URL         *string   `json:"url,omitempty"`
	Description *string   `json:"description,omitempty"`
	Events      *[]string `json:"events,omitempty"`
	Enabled     *bool     `json:"enabled,omitempty"`
}

// Delivery is the delivery of one event to one webhook.
type Delivery struct {
	ID          string          `json:"id"` // the header webhook-id
	Webhook     string          `json:"webhook"`
	Event       string          `json:"event"`
	Payload     json.RawMessage `json:"payload"`
	State       string          `json:"state"` // pending, delivered or failed
	Attempts    int64           `json:"attempts"`
	LastStatus  *int64          `json:"last_status"`
	LastError   *string         `json:"last_error"`
	LastAnswer  string          `json:"last_answer"`
	CreatedAt   time.Time       `json:"created_at"`
	AttemptedAt *time.Time      `json:"attempted_at"`
	NextAttempt *time.Time      `json:"next_attempt_at"`
	FinishedAt  *time.Time      `json:"finished_at"`
}

// Webhooks iterates over all webhooks that the token may see, newest first, page by
// page. It ends after the first error.
func (c *Client) Webhooks(ctx context.Context, options ...ListOptions) iter.Seq2[Webhook, error] {
	return pagesOf[Webhook](ctx, c, queryOf(options), "api", "v1", "webhooks")
}

// Webhook returns a webhook.
func (c *Client) Webhook(ctx context.Context, id string) (Webhook, error) {
	return call[Webhook](ctx, c, http.MethodGet, nil, "api", "v1", "webhooks", id)
}

// CreateWebhook creates a webhook.
func (c *Client) CreateWebhook(ctx context.Context, in NewWebhook) (Webhook, error) {
	return call[Webhook](ctx, c, http.MethodPost, in, "api", "v1", "webhooks")
}

// UpdateWebhook changes a webhook.
func (c *Client) UpdateWebhook(ctx context.Context, id string, change WebhookChange) (Webhook, error) {
	return call[Webhook](ctx, c, http.MethodPatch, change, "api", "v1", "webhooks", id)
}

// RotateWebhook gives a webhook a new secret. The old one signs too for the overlap, in
// whole seconds; nil leaves its length to the server.
func (c *Client) RotateWebhook(ctx context.Context, id string, overlap *time.Duration) (Webhook, error) {
	in := map[string]int64{}
	if overlap != nil {
		in["overlap_seconds"] = int64(*overlap / time.Second)
	}
	return call[Webhook](ctx, c, http.MethodPost, in, "api", "v1", "webhooks", id, "rotate")
}

// DeleteWebhook removes a webhook.
func (c *Client) DeleteWebhook(ctx context.Context, id string) error {
	response, err := c.send(ctx, http.MethodDelete, nil, "", []string{"api", "v1", "webhooks", id})
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// Deliveries iterates over the deliveries of a webhook, newest first, page by page. It
// ends after the first error.
func (c *Client) Deliveries(ctx context.Context, webhook string, options ...ListOptions) iter.Seq2[Delivery, error] {
	return pagesOf[Delivery](ctx, c, queryOf(options), "api", "v1", "webhooks", webhook, "deliveries")
}

// Redeliver sends an event again.
func (c *Client) Redeliver(ctx context.Context, webhook, delivery string) (Delivery, error) {
	return call[Delivery](
		ctx, c, http.MethodPost, nil, "api", "v1", "webhooks", webhook, "deliveries", delivery, "redeliver",
	)
}

// TestWebhook queues a test event. Its outcome is in Delivery a moment later.
func (c *Client) TestWebhook(ctx context.Context, webhook string) (Delivery, error) {
	return call[Delivery](ctx, c, http.MethodPost, nil, "api", "v1", "webhooks", webhook, "test")
}

// Delivery returns one delivery of a webhook.
func (c *Client) Delivery(ctx context.Context, webhook, delivery string) (Delivery, error) {
	return call[Delivery](ctx, c, http.MethodGet, nil, "api", "v1", "webhooks", webhook, "deliveries", delivery)
}
