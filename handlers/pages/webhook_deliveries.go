package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"postern/handlers/web"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/views/ui"
	pages "postern/views/webhooks"
)

func deliveryPath(webhook, delivery string) string {
	return webhookPath(webhook) + "/deliveries/" + url.PathEscape(delivery)
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
				{Value: webhooks.Pending, Title: "Pending"},
				{Value: webhooks.Delivered, Title: "Delivered"},
				{Value: webhooks.Failed, Title: "Failed"},
			}},
			{name: "event", title: "Event", options: named(webhooks.Events())},
		},
	}
}

func deliveryRow(w webhooks.Webhook, d webhooks.Delivery) pages.Delivery {
	row := pages.Delivery{
		Event:    d.Event,
		Page:     deliveryPath(w.ID, d.ID),
		Time:     moment(d.CreatedAt),
		Attempts: attemptsText(d),
		Outcome:  outcomeText(d),
		State: map[string]ui.Badge{
			webhooks.Pending:   {Tone: ui.Cold, Text: "pending"},
			webhooks.Delivered: {Tone: ui.Good, Text: "delivered"},
			webhooks.Failed:    {Tone: ui.Bad, Text: "failed"},
		}[d.State],
	}
	if d.State != webhooks.Pending && w.Enabled {
		row.Again = deliveryPath(w.ID, d.ID) + "/redeliver"
	}
	return row
}

func attemptsText(d webhooks.Delivery) string {
	if d.NextAttempt == nil {
		return strconv.FormatInt(d.Attempts, 10)
	}
	return fmt.Sprintf("%d of %d, next at %s", d.Attempts, webhooks.Attempts(), moment(*d.NextAttempt))
}

func outcomeText(d webhooks.Delivery) string {
	if d.LastStatus == 0 {
		return d.LastError
	}
	return strings.TrimSuffix(fmt.Sprintf("%d: %s", d.LastStatus, d.LastError), ": ")
}

func (h *Handler) showDelivery(v *visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.ctx(), v.who, v.param("webhook"))
	if err != nil {
		return web.Answer{}, err
	}
	d, err := h.Webhooks.Delivery(v.ctx(), v.who, w.ID, v.param("delivery"))
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
		Waits:   d.State == webhooks.Pending && d.Attempts == 0,
		Payload: indented(d.Payload),
		Answer:  d.LastAnswer,
		Facts: []ui.Fact{
			{Label: "Address", Value: w.URL, Mono: true},
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
func indented(text string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		return text
	}
	return out.String()
}

func (h *Handler) testWebhook(v *visit) (web.Answer, error) {
	d, err := h.Webhooks.SendTest(v.ctx(), v.who, v.param("webhook"))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Redirect(deliveryPath(d.Webhook, d.ID)), nil
}

func (h *Handler) redeliver(v *visit) (web.Answer, error) {
	d, err := h.Webhooks.Redeliver(v.ctx(), v.who, v.param("webhook"), v.param("delivery"))
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("webhook_again", deliveryPath(d.Webhook, d.ID))
}
