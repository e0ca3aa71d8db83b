package views_test

import (
	"postern/views/ui"
	"postern/views/webhooks"
)

func webhookStates() []state {
	return []state{
		{"webhooks", webhooks.ListPage(webhookList())},
		{"webhooks-empty", webhooks.ListPage(webhooks.List{
			Page:   in("Webhooks", "/settings/webhooks", "Webhooks"),
			Create: &webhooks.Form{Events: events()},
		})},
		{"webhooks-wrong", webhooks.ListPage(webhooksWrong())},
		{"webhook", webhooks.DetailPage(webhookDetail())},
		{"webhook-off", webhooks.DetailPage(webhookOff())},
		{"webhook-sent", webhooks.SentPage(webhooks.Sent{
			Page:    in("Delivery", "/settings/webhooks/whk_3/deliveries/msg_1", "Webhooks", "whk_3", "msg_1"),
			Path:    "/settings/webhooks/whk_3/deliveries/msg_1",
			Event:   "webhook.test",
			State:   ui.Badge{Tone: ui.Bad, Text: "failed"},
			Payload: "{\n  \"type\": \"webhook.test\"\n}",
			Answer:  "no such hook",
			Facts: []ui.Fact{
				{Label: "URL", Value: "https://hooks.example.com/postern", Mono: true},
				{Label: "Attempts", Value: "1"},
				{Label: "Last response", Value: "404: the receiver didn't respond with 2xx"},
			},
			Again: "/settings/webhooks/whk_3/deliveries/msg_1/redeliver",
		})},
		{"webhook-sent-waits", webhooks.SentPage(webhooks.Sent{
			Page:    in("Delivery", "/settings/webhooks/whk_3/deliveries/msg_1", "Webhooks", "whk_3", "msg_1"),
			Path:    "/settings/webhooks/whk_3/deliveries/msg_1",
			Event:   "webhook.test",
			State:   ui.Badge{Tone: ui.Cold, Text: "pending"},
			Waits:   true,
			Payload: "{}",
			Facts:   []ui.Fact{{Label: "Attempts", Value: "0"}},
		})},
		{"webhook-shown", webhooks.ShownPage(webhooks.Shown{
			Page:   in("Webhook added", "/settings/webhooks", "Webhooks", "New secret"),
			Title:  "Webhook added",
			Secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=",
			Back:   "/settings/webhooks/whk_1",
			Facts: []ui.Fact{{
				Label: "URL",
				Value: "https://hooks.example.com/postern",
				Mono:  true,
			}, {Label: "Events", Value: "all events"}},
		})},
	}
}

func events() []ui.Option {
	return []ui.Option{{
		Value:  "project.claimed",
		Title:  "project.claimed",
		Chosen: true,
	}, {Value: "key.created", Title: "key.created", Chosen: true},
		{Value: "export.ready", Title: "export.ready"}}
}

func webhookList() webhooks.List {
	return webhooks.List{
		Page:   in("Webhooks", "/settings/webhooks", "Webhooks"),
		Create: &webhooks.Form{Events: events()},
		List:   narrowed(listed("/settings/webhooks", "webhooks", "created", "url")),
		Rows: []webhooks.Row{
			{
				URL:    "https://hooks.example.com/postern",
				Page:   "/settings/webhooks/whk_3",
				Events: "all events",
				State:  ui.Badge{Tone: ui.Good, Text: "on"},
			},
			{
				URL:    "https://hooks.example.com/a/very/long/path/that/does/not/fit/into/a/column/of/the/table",
				Page:   "/settings/webhooks/whk_2",
				Events: "key.created, key.rotated, key.frozen, key.revoked",
				State:  ui.Badge{Tone: ui.Bad, Text: "failing"},
			},
		},
	}
}

func webhooksWrong() webhooks.List {
	m := webhookList()
	m.Open = true
	m.Create = &webhooks.Form{
		Events:      events(),
		EventsError: "Use at least one event.",
		URL: ui.Value{Text: "http://10.0.0.1/", Error: "This isn't a public address. The operator can allow " +
			"a range with POSTERN_EGRESS_ALLOW."},
		Description: ui.Value{Text: "x", Error: "Use at most 200 printable characters."},
	}
	return m
}

func webhookDetail() webhooks.Detail {
	return webhooks.Detail{
		Page:    in("Webhook", "/settings/webhooks/whk_3", "Webhooks", "whk_3"),
		URL:     "https://hooks.example.com/postern",
		Enabled: true,
		Rotate: ui.Confirmation{
			ID:     "rotate-confirm",
			Action: "/settings/webhooks/whk_3/rotate",
			Verb:   "Rotate",
			Kind:   "secret",
			Impact: []string{
				"Deliveries will be signed with both secrets for 1 day. After that, a receiver without the new " +
					"secret will refuse them.",
			},
			Undo:     "You can't extend this period.",
			ByButton: true,
		},
		Delete: ui.Confirmation{
			ID:     "delete-confirm",
			Action: "/settings/webhooks/whk_3/delete",
			Impact: []string{"Events will no longer be sent to https://hooks.example.com/postern. The webhook's " +
				"deliveries will be deleted, including pending ones."},
			Verb: "Delete",
			Kind: "webhook",
		},
		State:  ui.Badge{Tone: ui.Good, Text: "on"},
		Action: "/settings/webhooks/whk_3",
		Form:   webhooks.Form{URL: ui.Value{Text: "https://hooks.example.com/postern"}, Events: events()},
		Facts: []ui.Fact{{
			Label: "ID",
			Value: "whk_3",
			Mono:  true,
		}, {Label: "Events", Value: "all events"}, {Label: "Added", Value: "31 Jan 2030 12:00 UTC"}},
		Deliveries: []webhooks.Delivery{
			{
				Event:    "key.created",
				Page:     "/settings/webhooks/whk_3/deliveries/msg_2",
				Time:     ago(1),
				State:    ui.Badge{Tone: ui.Cold, Text: "pending"},
				Attempts: "1 of 10, next on 31 Jan 2030 12:07 UTC",
				Outcome:  "500: the receiver didn't respond with 2xx",
			},
			{
				Event:    "export.ready",
				Page:     "/settings/webhooks/whk_3/deliveries/msg_1",
				Time:     on("31 Jan 2030"),
				State:    ui.Badge{Tone: ui.Good, Text: "delivered"},
				Attempts: "1",
				Outcome:  "200",
				Again:    "/settings/webhooks/whk_3/deliveries/msg_1/redeliver",
			},
		},
	}
}

func webhookOff() webhooks.Detail {
	m := webhookDetail()
	m.Enabled, m.State, m.Deliveries = false, ui.Badge{Tone: ui.Cold, Text: "off"}, nil
	m.Notice = &ui.Notice{
		Tone: ui.Bad,
		Text: "Postern turned this webhook off: no delivery has succeeded for five days. Fix the receiver, then " +
			"turn the webhook back on. You can send failed deliveries again below.",
	}
	return m
}
