package webhooks

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/views/ui"
	pages "postern/views/webhooks"
)

const webhooksPath = "/settings/webhooks"

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

func webhooksCrumb() ui.Crumb { return ui.Crumb{Text: "Webhooks", URL: webhooksPath} }

func (h *Handler) showWebhooks(v *page.Visit) (web.Answer, error) {
	m, err := h.webhookList(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(pages.ListPage(m)), nil
}

func (h *Handler) webhookList(v *page.Visit) (pages.List, error) {
	list := &page.Listing{
		Path:   webhooksPath,
		One:    "webhook",
		Search: "Description or URL",
		Orders: []page.ListOrder{{By: "created", Desc: true}, {By: "url"}},
		Filters: []page.ListFilter{{Name: "state", Title: "State", Options: []ui.Option{
			{Value: contract.WebhookOn, Title: "On"},
			{Value: contract.WebhookFailing, Title: "Failing"},
			{Value: contract.WebhookOff, Title: "Off"},
		}}},
	}
	list.Read(v)
	found, err := h.Webhooks.List(v.Ctx(), v.Who, contract.WebhookList{
		Page: list.Request(), State: list.Get("state"), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return pages.List{}, err
	}
	m := pages.List{
		Page: v.Shell("Webhooks", webhooksPath, ui.Crumb{Text: "Webhooks"}),
		List: page.ListView(list, found),
	}
	if teams := webhookTeams(v, v.Who.HomeTeam); len(teams) > 0 {
		m.Create = &pages.Form{Events: eventOptions(contract.WebhookEvents()), Teams: teams}
	}
	for _, w := range found.Items {
		m.Rows = append(m.Rows, pages.Row{
			URL:     w.URL,
			Page:    webhookPath(w.ID),
			Events:  eventNames(w),
			Created: w.CreatedAt,
			State:   webhookBadge(w),
		})
	}
	return m, nil
}

// webhookTeams are the teams that the visitor may add a webhook to.
func webhookTeams(v *page.Visit, chosen string) []ui.Option {
	var out []ui.Option
	for _, t := range v.Account.Teams {
		if access.Can(v.Who.Roles[t.Value], access.WebhookChange) {
			out = append(out, ui.Option{Value: t.Value, Title: t.Title, Chosen: t.Value == chosen})
		}
	}
	return out
}

func eventNames(w contract.Webhook) string {
	if w.HasAllEvents() {
		return "all events"
	}
	return strings.Join(w.Events, ", ")
}

func eventOptions(chosen []string) []ui.Option {
	var out []ui.Option
	for _, event := range contract.WebhookEvents() {
		out = append(out, ui.Option{Value: event, Title: event, Chosen: slices.Contains(chosen, event)})
	}
	return out
}

func webhookBadge(w contract.Webhook) ui.Badge {
	switch {
	case !w.Enabled:
		return ui.Badge{Tone: ui.Cold, Text: "off"}
	case w.FailingSince != nil:
		return ui.Badge{Tone: ui.Bad, Text: "failing"}
	}
	return ui.Badge{Tone: ui.Good, Text: "on"}
}

func (h *Handler) createWebhook(v *page.Visit) (web.Answer, error) {
	var in contract.NewWebhook
	v.Fill(&in, "team", "url", "description", "events")
	w, err := h.Webhooks.Create(v.Ctx(), v.Who, contract.WebhookCreation{Body: in})
	if err == nil {
		return v.Disclose(webhookSecretPath(w.ID), page.Disclosed{Heading: "Webhook added", Secret: w.Secret.Reveal()})
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.webhookList(v)
	if err != nil {
		return web.Answer{}, err
	}
	form := webhookForm(wrong, in.URL, in.Description, in.Events)
	m.Open, m.Create = true, &form
	m.Create.Teams = webhookTeams(v, cmp.Or(in.Team, v.Who.HomeTeam))
	return web.Answer{Status: wrong.Status, Page: pages.ListPage(m)}, nil
}

func webhookForm(wrong *page.Errors, address, description string, events []string) pages.Form {
	f := pages.Form{
		URL:         wrong.Value("/url", address),
		Description: wrong.Value("/description", description),
		Events:      eventOptions(events),
		EventsError: wrong.Take("/events"),
	}
	f.Error = wrong.Rest()
	return f
}

func webhookSecretPath(id string) string { return webhookPath(id) + "/secret" }

// showWebhookSecret shows the signing secret of a new webhook, or a new secret, once.
func (h *Handler) showWebhookSecret(v *page.Visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.Ctx(), v.Who, webhookIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(w.Team)
	path := webhookSecretPath(w.ID)
	found, err := v.Disclosed(path)
	if err != nil {
		return web.Answer{}, err
	}
	if found == nil {
		found = &page.Disclosed{Heading: "Webhook secret"}
	}
	m := pages.Shown{
		Page:   v.Shell(found.Heading, path, webhooksCrumb(), ui.Crumb{Text: "Secret"}),
		Title:  found.Heading,
		Secret: found.Secret,
		Back:   webhookPath(w.ID),
		Facts:  []ui.Fact{{Label: "URL", Value: w.URL, Mono: true}, {Label: "Events", Value: eventNames(w)}},
	}
	if w.OldSecretExpiresAt != nil {
		m.Facts = append(m.Facts, ui.Fact{
			Label: "Old secret",
			Value: "also signs deliveries until " + page.Moment(*w.OldSecretExpiresAt),
		})
	}
	return web.Show(pages.ShownPage(m)), nil
}

func (h *Handler) showWebhook(v *page.Visit) (web.Answer, error) {
	m, err := h.webhookNow(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(pages.DetailPage(m)), nil
}

// webhookNow is the page of the webhook in the address, as it is now.
func (h *Handler) webhookNow(v *page.Visit) (pages.Detail, error) {
	w, err := h.Webhooks.Get(v.Ctx(), v.Who, webhookIn(v))
	if err != nil {
		return pages.Detail{}, err
	}
	return h.webhookDetail(v, w)
}

func (h *Handler) webhookDetail(v *page.Visit, w contract.Webhook) (pages.Detail, error) {
	v.SelectTeam(w.Team)
	path := webhookPath(w.ID)
	list := deliveryList(path).Read(v)
	sent, err := h.Webhooks.Deliveries(v.Ctx(), v.Who, contract.DeliveryList{
		WebhookPath: contract.WebhookPath{Webhook: w.ID}, Page: list.Request(),
		State: list.Get("state"), Event: list.Get("event"), Sort: list.Sorting(),
	})
	if err != nil {
		return pages.Detail{}, err
	}
	m := pages.Detail{
		Page:   v.Shell("Webhook", path, webhooksCrumb(), ui.Crumb{Text: w.URL}),
		URL:    w.URL,
		List:   page.ListView(list, sent),
		ETag:   w.ETag,
		State:  webhookBadge(w),
		Notice: webhookNotice(w),
		Rotate: webhookRotation(w),
		Delete: ui.Confirmation{
			ID:     "delete-confirm",
			Action: path + "/delete",
			Verb:   "Delete",
			Kind:   "webhook",
			Name:   w.URL,
			Impact: h.webhookImpact(v, w),
		},
		Enabled: w.Enabled,
		Form: pages.Form{
			URL:         ui.Value{Text: w.URL},
			Description: ui.Value{Text: w.Description},
			Events:      eventOptions(w.Events),
		},
		Facts: []ui.Fact{{
			Label: "ID",
			Value: w.ID,
			Mono:  true,
			Copy:  "webhook-id",
		}, {Label: "Events", Value: eventNames(w)}, {Label: "Added", Time: w.CreatedAt}},
	}
	if w.Description != "" {
		m.Facts = append(m.Facts, ui.Fact{Label: "Description", Value: w.Description})
	}
	if w.OldSecretExpiresAt != nil {
		m.Facts = append(m.Facts, ui.Fact{
			Label: "Old secret",
			Value: "also signs deliveries until " + page.Moment(*w.OldSecretExpiresAt),
		})
	}
	mayChange := v.Who.May(w.Team, access.WebhookChange)
	if mayChange {
		m.Action = path
	}
	for _, d := range sent.Items {
		row := deliveryRow(w, d)
		if !mayChange {
			row.Again = ""
		}
		m.Deliveries = append(m.Deliveries, row)
	}
	return m, nil
}

func webhookNotice(w contract.Webhook) *ui.Notice {
	switch {
	case w.DisabledReason != nil:
		return &ui.Notice{
			Tone: ui.Bad,
			Text: "Postern turned this webhook off: " + *w.DisabledReason + ". Fix the receiver, then turn the " +
				"webhook back on. You can send failed deliveries again below.",
		}
	case w.Enabled && w.FailingSince != nil:
		return &ui.Notice{
			Tone: ui.Warn,
			Text: "No delivery has succeeded since " + page.Moment(*w.FailingSince) +
				". After five days of failures, Postern will turn the webhook off.",
		}
	}
	return nil
}

func (h *Handler) saveWebhook(v *page.Visit) (web.Answer, error) {
	in := contract.WebhookUpdate{WebhookPath: webhookIn(v)}
	v.Fill(&in.Body, "url", "description", "events")
	w, err := h.Webhooks.Update(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("webhook", webhookPath(w.ID), w.URL)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.webhookNow(v)
	if err != nil {
		return web.Answer{}, err
	}
	m.Form = webhookForm(wrong, *in.Body.URL, *in.Body.Description, *in.Body.Events)
	return web.Answer{Status: wrong.Status, Page: pages.DetailPage(m)}, nil
}

func (h *Handler) switchWebhook(v *page.Visit) (web.Answer, error) {
	in := contract.WebhookUpdate{WebhookPath: webhookIn(v)}
	v.Fill(&in.Body, "enabled")
	w, err := h.Webhooks.Update(v.Ctx(), v.Who, in)
	if err != nil {
		return web.Answer{}, err
	}
	if w.Enabled {
		return v.Done("webhook_on", webhookPath(w.ID), w.URL)
	}
	return v.Done("webhook_off", webhookPath(w.ID), w.URL)
}

func (h *Handler) deleteWebhook(v *page.Visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.Ctx(), v.Who, webhookIn(v))
	if err == nil {
		err = v.Confirmed("Check the box to delete the webhook.")
	}
	if err == nil {
		_, err = h.Webhooks.Delete(v.Ctx(), v.Who, webhookIn(v))
	}
	if err == nil {
		return v.Done("webhook_gone", webhooksPath, w.URL)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	if err := access.Check(v.Who, w.Team, access.WebhookChange); err != nil {
		return web.Answer{}, err
	}
	m, err := h.webhookDetail(v, w)
	m.Delete.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: pages.DetailPage(m)}, err
}

// webhookImpact says what is no longer sent once a webhook is deleted.
func (h *Handler) webhookImpact(v *page.Visit, w contract.Webhook) []string {
	n, err := h.Webhooks.DeliveredLastDay(v.Ctx(), v.Who, w.ID)
	return append(v.Figure(deliveriesText(n)+" in the last 24 hours.", err),
		"Events will no longer be sent to "+w.URL+". The webhook's deliveries will be deleted, "+
			"including pending ones.")
}

// deliveriesText is a number of deliveries at the start of a sentence.
func deliveriesText(n int64) string {
	if n == 0 {
		return "No deliveries"
	}
	return page.CountText(n, "delivery")
}

// webhookRotation asks before a webhook gets a new secret.
func webhookRotation(w contract.Webhook) ui.Confirmation {
	c := ui.Confirmation{
		ID:     "rotate-confirm",
		Action: webhookPath(w.ID) + "/rotate",
		Verb:   "Rotate",
		Kind:   "secret",
		Impact: []string{
			"Deliveries will be signed with both secrets for " + page.LifetimeText(
				int64(webhooks.DefaultOverlap.Seconds()),
			) +
				". After that, a receiver without the new secret will refuse them.",
		},
		Undo:     "You can't extend this period.",
		ByButton: true,
	}
	if w.OldSecretExpiresAt != nil && w.OldSecretExpiresAt.After(time.Now()) {
		until := page.Moment(*w.OldSecretExpiresAt)
		c.Impact = append(c.Impact, "The previous secret, which would have expired on "+until+", will stop "+
			"signing immediately.")
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
	if wrong, ok := page.ErrorsIn(page.OutdatedForm(err)); ok {
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
