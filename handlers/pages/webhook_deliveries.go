package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/views/ui"
	pages "postern/views/webhooks"
)

func deliveryPath(webhook, delivery string) string {
	return webhookPath(webhook) + "/deliveries/" + url.PathEscape(delivery)
}

// webhookIn and deliveryIn are what the address names.
func webhookIn(v *visit) contract.WebhookPath {
	return contract.WebhookPath{Webhook: v.param("webhook")}
}

func deliveryIn(v *visit) contract.DeliveryPath {
	return contract.DeliveryPath{WebhookPath: webhookIn(v), Delivery: v.param("delivery")}
}

// deliveryList is the list of deliveries on the page of a webhook.
func deliveryList(path string) *listing {
	return &listing{
		path:    path,
		section: "deliveries",
		one:     "delivery",
		orders:  []listOrder{{by: "created", desc: true}},
		filters: []listFilter{
			{name: "state", title: "State", options: []ui.Option{
				{Value: contract.DeliveryPending, Title: "Pending"},
				{Value: contract.DeliveryDelivered, Title: "Delivered"},
				{Value: contract.DeliveryFailed, Title: "Failed"},
			}},
			{name: "event", title: "Event", options: named(webhooks.Events())},
		},
	}
}

func deliveryRow(w contract.Webhook, d contract.Delivery) pages.Delivery {
	row := pages.Delivery{
		Event:    d.Event,
		Page:     deliveryPath(w.ID, d.ID),
		Time:     moment(d.CreatedAt),
		Attempts: attemptsText(d),
		Outcome:  outcomeText(d),
		State: map[string]ui.Badge{
			contract.DeliveryPending:   {Tone: ui.Cold, Text: "pending"},
			contract.DeliveryDelivered: {Tone: ui.Good, Text: "delivered"},
			contract.DeliveryFailed:    {Tone: ui.Bad, Text: "failed"},
		}[d.State],
	}
	if d.State != contract.DeliveryPending && w.Enabled {
		row.Again = deliveryPath(w.ID, d.ID) + "/redeliver"
	}
	return row
}

func attemptsText(d contract.Delivery) string {
	if d.NextAttemptAt == nil {
		return strconv.FormatInt(d.Attempts, 10)
	}
	return fmt.Sprintf("%d of %d, next at %s", d.Attempts, webhooks.Attempts(), moment(*d.NextAttemptAt))
}

func outcomeText(d contract.Delivery) string {
	var parts []string
	if d.LastStatus != nil {
		parts = append(parts, strconv.FormatInt(*d.LastStatus, 10))
	}
	if d.LastError != nil {
		parts = append(parts, *d.LastError)
	}
	return strings.Join(parts, ": ")
}

func (h *Handler) showDelivery(v *visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.ctx(), v.who, webhookIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	d, err := h.Webhooks.Delivery(v.ctx(), v.who, deliveryIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path := deliveryPath(w.ID, d.ID)
	row := deliveryRow(w, d)
	m := pages.Sent{
		Page: v.shell("Delivery", path, webhooksCrumb(),
			ui.Crumb{Text: w.ID, URL: webhookPath(w.ID)}, ui.Crumb{Text: d.ID}),
		Path:    path,
		Event:   d.Event,
		State:   row.State,
		Waits:   d.State == contract.DeliveryPending && d.Attempts == 0,
		Payload: indented(d.Payload),
		Answer:  d.LastAnswer,
		Facts: []ui.Fact{
			{Label: "URL", Value: w.URL, Mono: true},
			{Label: "webhook-id", Value: d.ID, Mono: true},
			{Label: "Created", Value: moment(d.CreatedAt)},
			{Label: "Attempts", Value: row.Attempts},
		},
	}
	if row.Outcome != "" {
		m.Facts = append(m.Facts, ui.Fact{Label: "Last response", Value: row.Outcome})
	}
	if m.Waits {
		m.Page.Refresh = refreshSeconds
	}
	if v.who.May(w.Team, access.WebhookChange) {
		m.Again = row.Again
	}
	return web.Show(pages.SentPage(m)), nil
}

// indented formats JSON for people. Text that is none is returned as it is.
func indented(text []byte) string {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return string(text)
	}
	return out.String()
}

func (h *Handler) testWebhook(v *visit) (web.Answer, error) {
	d, err := h.Webhooks.SendTest(v.ctx(), v.who, webhookIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Redirect(deliveryPath(d.Webhook, d.ID)), nil
}

func (h *Handler) redeliver(v *visit) (web.Answer, error) {
	d, err := h.Webhooks.Redeliver(v.ctx(), v.who, deliveryIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("webhook_again", deliveryPath(d.Webhook, d.ID))
}
