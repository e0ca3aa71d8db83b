package contract

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"time"
)

// WebhookPath is the path parameter of a webhook.
type WebhookPath struct {
	Webhook string `path:"webhook" doc:"ID of the webhook"`
}

// DeliveryPath are the path parameters of a delivery.
type DeliveryPath struct {
	WebhookPath
	Delivery string `path:"delivery" doc:"ID of the delivery"`
}

// Webhook is a URL that a team's events are sent to.
type Webhook struct {
	ID                 string     `json:"id"`
	Team               string     `json:"team" doc:"ID of the team whose events the webhook sends"`
	URL                string     `json:"url"`
	Description        string     `json:"description"`
	Events             []string   `json:"events"`
	Enabled            bool       `json:"enabled"`
	DisabledReason     *string    `json:"disabled_reason" doc:"Why Postern disabled it; null if it didn't"`
	FailingSince       *time.Time `json:"failing_since" doc:"Start of the current failures; null if there are none"`
	OldSecretExpiresAt *time.Time `json:"old_secret_expires_at" doc:"When the previous secret stops signing"`
	CreatedAt          time.Time  `json:"created_at"`
	ETag               string     `json:"etag" doc:"Send as If-Match to update the webhook"`
}

// Path returns its path parameter.
func (w Webhook) Path() WebhookPath { return WebhookPath{Webhook: w.ID} }

// Tag returns the webhook's ETag.
func (w Webhook) Tag() string { return w.ETag }

// WebhookWithSecret is a webhook with its new secret.
type WebhookWithSecret struct {
	Webhook
	Secret Secret `json:"secret" doc:"Signing secret (Standard Webhooks, whsec_…). Returned only once"`
}

// LogValue implements slog.LogValuer.
func (w WebhookWithSecret) LogValue() slog.Value { return slog.StringValue(w.ID) }

// States of webhooks in lists.
const (
	WebhookOn      = "on"
	WebhookOff     = "off"
	WebhookFailing = "failing" // on, but its deliveries fail
)

// WebhookList is a request for webhooks.
type WebhookList struct {
	Page
	State string `query:"state" enum:"on,off,failing" doc:"Only webhooks in this state. A failing webhook is on, but its deliveries don't succeed"`
	Sort  string `query:"sort" enum:"created,-created,url,-url" doc:"Sort order. A leading - means descending. Defaults to -created"`
	Text  string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the URL or description, ignoring case"`
}

// NewWebhook is a webhook to be created.
type NewWebhook struct {
	URL         string   `json:"url" doc:"http or https URL that receives events as POST requests"`
	Description string   `json:"description,omitempty" doc:"Description of the webhook"`
	Events      []string `json:"events,omitempty" flag:"event" doc:"Event types to send: project.claimed, key.created, key.rotated, key.frozen, key.revoked, keys.imported, export.ready, export.failed, user.created, user.signed_in, user.frozen, user.deleted, group.changed, consent.withdrawn, tenant.deleted, domain.record_missing, domain.record_back, upstream.unhealthy or upstream.healthy. Defaults to all"`
	Team        string   `json:"team,omitempty" minLength:"1" id:"team" doc:"ID of the team whose events the webhook sends. Defaults to your first team"`
}

// WebhookCreation is a request for a new webhook.
type WebhookCreation struct{ Body NewWebhook }

// WebhookChange changes a webhook; nil leaves a member unchanged.
type WebhookChange struct {
	URL         *string   `json:"url,omitempty" doc:"http or https URL that receives events as POST requests"`
	Description *string   `json:"description,omitempty" doc:"Description of the webhook"`
	Events      *[]string `json:"events,omitempty" flag:"event" doc:"Event types to send. Replaces the existing list"`
	Enabled     *bool     `json:"enabled,omitempty" doc:"Send events. Turning a webhook back on also clears its earlier failures"`
}

// WebhookUpdate is a request to change a webhook.
type WebhookUpdate struct {
	WebhookPath
	Condition
	Body WebhookChange
}

// WebhookRotation is a request for a new secret.
type WebhookRotation struct {
	WebhookPath
	Condition
	Body *Overlap // nil: the default
}

// Overlap is how long the old secret stays valid next to the new one.
type Overlap struct {
	OverlapSeconds *int64 `json:"overlap_seconds,omitempty" flag:"overlap,duration" doc:"How long deliveries are also signed with the old secret, up to 30 days. 0 retires it immediately. Defaults to 1 day"`
}

// Delivery is one event on its way to one webhook.
type Delivery struct {
	ID            string          `json:"id" doc:"Value of the webhook-id header, the same for every attempt"`
	Webhook       string          `json:"webhook"`
	Event         string          `json:"event"`
	Payload       json.RawMessage `json:"payload" doc:"Body of the delivery"`
	State         string          `json:"state" enum:"pending,delivered,failed"`
	Attempts      int64           `json:"attempts"`
	LastStatus    *int64          `json:"last_status" doc:"Status of the last response; null if there was none"`
	LastError     *string         `json:"last_error" doc:"Error of the last attempt; null if there was none"`
	LastAnswer    string          `json:"last_answer" doc:"First 1,024 bytes of the last response's body"`
	CreatedAt     time.Time       `json:"created_at"`
	AttemptedAt   *time.Time      `json:"attempted_at"`
	NextAttemptAt *time.Time      `json:"next_attempt_at" doc:"When the next attempt starts; null if there is none"`
	FinishedAt    *time.Time      `json:"finished_at"`
}

// States of deliveries.
const (
	DeliveryPending   = "pending"
	DeliveryDelivered = "delivered"
	DeliveryFailed    = "failed"
)

// DeliveryList is a request for deliveries.
type DeliveryList struct {
	WebhookPath
	Page
	State string `query:"state" enum:"pending,delivered,failed" doc:"Only deliveries in this state"`
	Event string `query:"event" maxLength:"200" doc:"Only deliveries of this event type, such as key.frozen"`
	Sort  string `query:"sort" enum:"created,-created" doc:"Sort order. A leading - means descending. Defaults to -created"`
}

const (
	webhooks = "/api/v1/webhooks"
	webhook  = webhooks + "/{webhook}"
	delivery = webhook + "/deliveries/{delivery}"
)

// The operations on webhooks and their deliveries.
var (
	ListWebhooks = &Op[WebhookList, List[Webhook]]{Operation{
		ID: "list-webhooks", Method: http.MethodGet, Path: webhooks, Summary: "List webhooks",
		Command: "webhooks list", Permission: ReadWebhooks,
		Doc: "Lists your teams' webhooks, newest first.",
	}}
	CreateWebhook = &Op[WebhookCreation, WebhookWithSecret]{Operation{
		ID: "create-webhook", Method: http.MethodPost, Path: webhooks, Status: http.StatusCreated,
		Summary: "Create a webhook", Command: "webhooks create URL", Permission: ChangeWebhooks,
		Example: "webhooks create https://hooks.example.com/postern --event key.created --event key.revoked",
		Doc: "Postern sends the team's events to the URL as POST requests signed according to Standard Webhooks. " +
			"The response includes the signing secret, which is shown only once.",
	}}
	GetWebhook = &Op[WebhookPath, Webhook]{Operation{
		ID: "get-webhook", Method: http.MethodGet, Path: webhook, Summary: "Get a webhook", Permission: ReadWebhooks,
		Command: "webhooks show WEBHOOK",
		Doc: "Returns the webhook's settings, whether its deliveries are failing and, if Postern turned it off, the " +
			"reason.",
	}}
	UpdateWebhook = &Op[WebhookUpdate, Webhook]{Operation{
		ID: "update-webhook", Method: http.MethodPatch, Path: webhook, Summary: "Update a webhook",
		Command: "webhooks update WEBHOOK",
		Example: "webhooks update whk_… --event key.created --enabled", Permission: ChangeWebhooks,
		Doc: "Changes only the fields you send. Turning a webhook back on also clears its earlier failures.",
	}}
	RotateWebhook = &Op[WebhookRotation, WebhookWithSecret]{Operation{
		ID: "rotate-webhook", Method: http.MethodPost, Path: webhook + "/rotate", Summary: "Rotate a webhook's secret",
		Command: "webhooks rotate WEBHOOK",
		Example: "webhooks rotate whk_… --overlap 12h", Permission: ChangeWebhooks,
		Doc: "Deliveries are signed with both secrets until the overlap ends. The response includes the new secret, " +
			"which is shown only once.",
	}}
	DeleteWebhook = &Op[WebhookPath, None]{Operation{
		ID: "delete-webhook", Deletes: "webhook",
		Method: http.MethodDelete, Path: webhook, Status: http.StatusNoContent,
		Summary: "Delete a webhook", Command: "webhooks delete WEBHOOK", Permission: ChangeWebhooks,
		Doc: "Events are no longer sent. All deliveries are deleted, including pending ones.",
	}}
	TestWebhook = &Op[WebhookPath, Delivery]{Operation{
		ID: "test-webhook", Method: http.MethodPost, Path: webhook + "/test", Status: http.StatusAccepted,
		Summary: "Send a test event", Command: "webhooks test WEBHOOK", Permission: ChangeWebhooks,
		Doc: "Queues a webhook.test event, which the receiver can ignore. Get the delivery to see the response.",
	}}
	ListDeliveries = &Op[DeliveryList, List[Delivery]]{Operation{
		ID: "list-deliveries", Method: http.MethodGet, Path: webhook + "/deliveries", Permission: ReadWebhooks,
		Summary: "List a webhook's deliveries", Command: "webhooks deliveries WEBHOOK",
		Example: "webhooks deliveries whk_… --state failed",
		Doc:     "Lists the webhook's delivered, failed and pending events, newest first.",
	}}
	GetDelivery = &Op[DeliveryPath, Delivery]{Operation{
		ID: "get-delivery", Method: http.MethodGet, Path: delivery, Summary: "Get a delivery",
		Command: "webhooks delivery WEBHOOK DELIVERY", Permission: ReadWebhooks,
		Doc: "Returns the payload and the beginning of the last response.",
	}}
	Redeliver = &Op[DeliveryPath, Delivery]{Operation{
		ID: "redeliver", Method: http.MethodPost, Path: delivery + "/redeliver", Summary: "Send an event again",
		Command: "webhooks redeliver WEBHOOK DELIVERY", Permission: ChangeWebhooks,
		Doc: "Queues the event with the same webhook-id header, so the receiver can detect duplicates.",
	}}
)

var webhookOperations = []Described{
	ListWebhooks, CreateWebhook, GetWebhook, UpdateWebhook, RotateWebhook, DeleteWebhook, TestWebhook,
	ListDeliveries, GetDelivery, Redeliver,
}
