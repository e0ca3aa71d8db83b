package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/webhooks"
	"postern/views/ui"
	pages "postern/views/webhooks"
)

const webhooksPath = "/settings/webhooks"

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

func webhooksCrumb() ui.Crumb { return ui.Crumb{Text: "Webhooks", URL: webhooksPath} }

func (h *Handler) showWebhooks(v *visit) (web.Answer, error) {
	m, err := h.webhookList(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(pages.ListPage(m)), nil
}

func (h *Handler) webhookList(v *visit) (pages.List, error) {
	list := &listing{
		path:   webhooksPath,
		one:    "webhook",
		search: "Description or URL",
		orders: []listOrder{{by: "created", desc: true}, {by: "url"}},
		filters: []listFilter{{name: "state", title: "State", options: []ui.Option{
			{Value: contract.WebhookOn, Title: "On"},
			{Value: contract.WebhookFailing, Title: "Failing"},
			{Value: contract.WebhookOff, Title: "Off"},
		}}},
	}
	list.read(v)
	found, err := h.Webhooks.List(v.ctx(), v.who, contract.WebhookList{
		Page: list.asked(), State: list.get("state"), Sort: list.sorting(), Text: list.get("q"),
	})
	if err != nil {
		return pages.List{}, err
	}
	m := pages.List{
		Page: v.shell("Webhooks", webhooksPath, ui.Crumb{Text: "Webhooks"}),
		List: listView(list, found),
	}
	if teams := webhookTeams(v, v.who.HomeTeam); len(teams) > 0 {
		m.Create = &pages.Form{Events: eventOptions(webhooks.Events()), Teams: teams}
	}
	for _, w := range found.Items {
		m.Rows = append(m.Rows, pages.Row{
			URL:     w.URL,
			Page:    webhookPath(w.ID),
			Events:  eventNames(w.Events),
			Created: day(w.CreatedAt),
			State:   webhookBadge(w),
		})
	}
	return m, nil
}

// webhookTeams are the teams that the visitor may add a webhook to.
func webhookTeams(v *visit, chosen string) []ui.Option {
	var out []ui.Option
	for _, t := range v.account.Teams {
		if access.Can(v.who.Roles[t.Value], access.WebhookChange) {
			out = append(out, ui.Option{Value: t.Value, Title: t.Title, Chosen: t.Value == chosen})
		}
	}
	return out
}

func eventNames(events []string) string {
	if len(events) == len(webhooks.Events()) {
		return "everything"
	}
	return strings.Join(events, ", ")
}

func eventOptions(chosen []string) []ui.Option {
	var out []ui.Option
	for _, event := range webhooks.Events() {
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

func (h *Handler) createWebhook(v *visit) (web.Answer, error) {
	var in contract.NewWebhook
	v.fill(&in, "team", "url", "description", "events")
	w, err := h.Webhooks.Create(v.ctx(), v.who, contract.WebhookCreation{Body: in})
	if err == nil {
		return v.disclose(webhookSecretPath(w.ID), disclosed{Heading: "Webhook added", Secret: w.Secret.Reveal()})
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.webhookList(v)
	if err != nil {
		return web.Answer{}, err
	}
	form := webhookForm(wrong, in.URL, in.Description, in.Events)
	m.Open, m.Create = true, &form
	m.Create.Teams = webhookTeams(v, cmp.Or(in.Team, v.who.HomeTeam))
	return web.Answer{Status: wrong.status, Page: pages.ListPage(m)}, nil
}

func webhookForm(wrong *formErrors, address, description string, events []string) pages.Form {
	f := pages.Form{
		URL:         wrong.value("/url", address),
		Description: wrong.value("/description", description),
		Events:      eventOptions(events),
		EventsError: wrong.take("/events"),
	}
	f.Error = wrong.rest()
	return f
}

func webhookSecretPath(id string) string { return webhookPath(id) + "/secret" }

// showWebhookSecret shows the signing secret of a new webhook, or a new secret, once.
func (h *Handler) showWebhookSecret(v *visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.ctx(), v.who, webhookIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path := webhookSecretPath(w.ID)
	found, err := v.disclosed(path)
	if err != nil {
		return web.Answer{}, err
	}
	if found == nil {
		found = &disclosed{Heading: "Secret of the webhook"}
	}
	m := pages.Shown{
		Page:   v.shell(found.Heading, path, webhooksCrumb(), ui.Crumb{Text: "Secret"}),
		Title:  found.Heading,
		Secret: found.Secret,
		Back:   webhookPath(w.ID),
		Facts:  []ui.Fact{{Label: "URL", Value: w.URL, Mono: true}, {Label: "Events", Value: eventNames(w.Events)}},
	}
	if w.OldSecretExpiresAt != nil {
		m.Facts = append(m.Facts, ui.Fact{
			Label: "Old secret",
			Value: "signs with the new one until " + moment(*w.OldSecretExpiresAt),
		})
	}
	return web.Show(pages.ShownPage(m)), nil
}

func (h *Handler) showWebhook(v *visit) (web.Answer, error) {
	m, err := h.webhookNow(v)
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(pages.DetailPage(m)), nil
}

// webhookNow is the page of the webhook in the address, as it is now.
func (h *Handler) webhookNow(v *visit) (pages.Detail, error) {
	w, err := h.Webhooks.Get(v.ctx(), v.who, webhookIn(v))
	if err != nil {
		return pages.Detail{}, err
	}
	return h.webhookDetail(v, w)
}

func (h *Handler) webhookDetail(v *visit, w contract.Webhook) (pages.Detail, error) {
	path := webhookPath(w.ID)
	list := deliveryList(path).read(v)
	sent, err := h.Webhooks.Deliveries(v.ctx(), v.who, contract.DeliveryList{
		WebhookPath: contract.WebhookPath{Webhook: w.ID}, Page: list.asked(),
		State: list.get("state"), Event: list.get("event"), Sort: list.sorting(),
	})
	if err != nil {
		return pages.Detail{}, err
	}
	m := pages.Detail{
		Page:   v.shell("Webhook", path, webhooksCrumb(), ui.Crumb{Text: w.ID}),
		URL:    w.URL,
		List:   listView(list, sent),
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
		}, {Label: "Events", Value: eventNames(w.Events)}, {Label: "Added", Value: moment(w.CreatedAt)}},
	}
	if w.Description != "" {
		m.Facts = append(m.Facts, ui.Fact{Label: "Description", Value: w.Description})
	}
	if w.OldSecretExpiresAt != nil {
		m.Facts = append(m.Facts, ui.Fact{
			Label: "Old secret",
			Value: "signs with the new one until " + moment(*w.OldSecretExpiresAt),
		})
	}
	mayChange := v.who.May(w.Team, access.WebhookChange)
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
				"webhook on. You can send failed deliveries again below.",
		}
	case w.Enabled && w.FailingSince != nil:
		return &ui.Notice{
			Tone: ui.Warn,
			Text: "Nothing has arrived since " + moment(*w.FailingSince) +
				". After five days, Postern turns the webhook off.",
		}
	}
	return nil
}

func (h *Handler) saveWebhook(v *visit) (web.Answer, error) {
	in := contract.WebhookUpdate{WebhookPath: webhookIn(v)}
	v.fill(&in.Body, "url", "description", "events")
	w, err := h.Webhooks.Update(v.ctx(), v.who, in)
	if err == nil {
		return v.done("webhook", webhookPath(w.ID), w.URL)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.webhookNow(v)
	if err != nil {
		return web.Answer{}, err
	}
	m.Form = webhookForm(wrong, *in.Body.URL, *in.Body.Description, *in.Body.Events)
	return web.Answer{Status: wrong.status, Page: pages.DetailPage(m)}, nil
}

func (h *Handler) switchWebhook(v *visit) (web.Answer, error) {
	in := contract.WebhookUpdate{WebhookPath: webhookIn(v)}
	v.fill(&in.Body, "enabled")
	w, err := h.Webhooks.Update(v.ctx(), v.who, in)
	if err != nil {
		return web.Answer{}, err
	}
	if w.Enabled {
		return v.done("webhook_on", webhookPath(w.ID), w.URL)
	}
	return v.done("webhook_off", webhookPath(w.ID), w.URL)
}

func (h *Handler) deleteWebhook(v *visit) (web.Answer, error) {
	w, err := h.Webhooks.Get(v.ctx(), v.who, webhookIn(v))
	if err == nil {
		err = v.confirmed("Tick the box to delete the webhook.")
	}
	if err == nil {
		_, err = h.Webhooks.Delete(v.ctx(), v.who, webhookIn(v))
	}
	if err == nil {
		return v.done("webhook_gone", webhooksPath, w.URL)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	if err := access.Check(v.who, w.Team, access.WebhookChange); err != nil {
		return web.Answer{}, err
	}
	m, err := h.webhookDetail(v, w)
	m.Delete.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: pages.DetailPage(m)}, err
}

// webhookImpact says what is no longer sent once a webhook is deleted.
func (h *Handler) webhookImpact(v *visit, w contract.Webhook) []string {
	n, err := h.Webhooks.DeliveredLastDay(v.ctx(), v.who, w.ID)
	return append(v.figure(countText(n, "delivery")+" in the last 24 hours.", err),
		"Events are no longer sent to "+w.URL+". Its deliveries are deleted, including pending ones.")
}
