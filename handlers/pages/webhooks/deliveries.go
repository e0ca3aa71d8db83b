package webhooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/views/ui"
	pages "postern/views/webhooks"
)

func deliveryPath(webhook, delivery string) string {
	return webhookPath(webhook) + "/deliveries/" + url.PathEscape(delivery)
}

// webhookIn and deliveryIn return the webhook and the delivery in the address.
func webhookIn(v *page.Visit) contract.WebhookPath {
	return contract.WebhookPath{Webhook: v.Param("webhook")}
}

func deliveryIn(v *page.Visit) contract.DeliveryPath {
	return contract.DeliveryPath{WebhookPath: webhookIn(v), Delivery: v.Param("delivery")}
}

// deliveryList is the list of deliveries on the page of a webhook.
func deliveryList(path string) *page.Listing {
	return &page.Listing{
		Path:    path,
		Section: "deliveries",
		One:     "delivery",
		Orders:  []page.ListOrder{{By: "created", Desc: true}},
		Filters: []page.ListFilter{
			{Name: "state", Title: "State", Options: []ui.Option{
				{Value: contract.DeliveryPending, Title: "Pending"},
				{Value: contract.DeliveryDelivered, Title: "Delivered"},
				{Value: contract.DeliveryFailed, Title: "Failed"},
			}},
			{Name: "event", Title: "Event", Options: page.Named(contract.WebhookEvents())},
		},
	}
}

func deliveryRow(w contract.Webhook, d contract.Delivery) pages.Delivery {
	row := pages.Delivery{
		Event:    d.Event,
		Page:     deliveryPath(w.ID, d.ID),
		Time:     d.CreatedAt,
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
	return fmt.Sprintf("%d of %d, next on %s", d.Attempts, webhooks.Attempts(), page.Moment(*d.NextAttemptAt))
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

func (h *Handler) showDelivery(v *page.Visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.Ctx(), v.Who, webhookIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	d, err := h.Webhooks.Delivery(v.Ctx(), v.Who, deliveryIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(w.Team)
	path := deliveryPath(w.ID, d.ID)
	row := deliveryRow(w, d)
	m := pages.Sent{
		Page: v.Shell("Delivery", path, webhooksCrumb(),
			ui.Crumb{Text: w.URL, URL: webhookPath(w.ID)}, ui.Crumb{Text: d.Event}),
		Path:    path,
		Event:   d.Event,
		State:   row.State,
		Waits:   d.State == contract.DeliveryPending && d.Attempts == 0,
		Payload: indented(d.Payload),
		Answer:  d.LastAnswer,
		Facts: []ui.Fact{
			{Label: "URL", Value: w.URL, Mono: true},
			{Label: "Message ID", Value: d.ID, Mono: true},
			{Label: "Created", Time: d.CreatedAt},
			{Label: "Attempts", Value: row.Attempts},
		},
	}
	if row.Outcome != "" {
		m.Facts = append(m.Facts, ui.Fact{Label: "Last response", Value: row.Outcome})
	}
	if m.Waits {
		m.Page.Refresh = page.RefreshSeconds
	}
	if v.Who.May(w.Team, access.WebhookChange) {
		m.Again = row.Again
	}
	return web.Show(pages.SentPage(m)), nil
}

// indented formats JSON for people. Other text is returned unchanged.
func indented(text []byte) string {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return string(text)
	}
	return out.String()
}

func (h *Handler) testWebhook(v *page.Visit) (web.Answer, error) {
	d, err := h.Webhooks.SendTest(v.Ctx(), v.Who, webhookIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Redirect(deliveryPath(d.Webhook, d.ID)), nil
}

func (h *Handler) redeliver(v *page.Visit) (web.Answer, error) {
	d, err := h.Webhooks.Redeliver(v.Ctx(), v.Who, deliveryIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("webhook_again", deliveryPath(d.Webhook, d.ID))
}
