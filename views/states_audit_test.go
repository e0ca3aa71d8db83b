package views_test

import (
	"postern/views/audit"
	"postern/views/ui"
)

func auditLog() audit.Log {
	m := auditNothing()
	m.From.Error, m.From.Text, m.Kept = "", "", nil
	m.List = ui.List{
		Action:   "/audit",
		Form:     "audit-filters",
		Things:   "entries",
		Columns:  []ui.Column{{ID: "created", Text: "Time", URL: "/audit?dir=asc&sort=created", Sort: "descending"}},
		Bar:      true,
		Total:    "3 of more than 10,000 entries",
		FirstURL: "/audit",
		MoreURL:  "/audit?after=12",
	}
	m.Entries = []audit.Entry{
		{
			ID:     "aud_1",
			Time:   "20 Nov 2026, 14:03:22",
			At:     on("20 Nov 2026"),
			Who:    "ana@example.com",
			WhoURL: "/audit?actor=ana%40example.com",
			Text:   "froze the key …x7Qa of shop",
			URL:    "/projects/shop/keys/key_1",
			Facts: []ui.Fact{
				{Label: "Action", Value: "key.change", Mono: true},
				{Label: "Address", Value: "192.0.2.7:51100", Mono: true},
				{
					Label: "Entry",
					Value: "42, 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
					Mono:  true,
				},
			},
			Changes: []audit.Change{{Field: "state", Before: "active", After: "frozen"}},
		},
		{
			ID:      "aud_2",
			Time:    "20 Nov 2026, 14:03:20",
			At:      on("20 Nov 2026"),
			Who:     "An account outside this team",
			Text:    "tried to see the project \"shop\"",
			Refused: true,
			Facts:   []ui.Fact{{Label: "Action", Value: "project.read", Mono: true}},
		},
		{
			ID:   "aud_3",
			Time: "20 Nov 2026, 14:03:19",
			At:   on("20 Nov 2026"),
			Who:  "somebody.with.a.very.long.address.indeed@a-rather-long-name-of-a-company.example.com",
			Text: "changed the target of shop",
			Changes: []audit.Change{
				{
					Field:  "versions/1.0.0/environments/prod/target",
					Before: "https://api.example.com/with/a/long/path/that/goes/on/and/on",
					After:  "https://other.example.com",
				},
				{Field: "scopes", Before: "none", After: `["read","write"]`},
			},
		},
	}
	return m
}

func auditNothing() audit.Log {
	return audit.Log{
		Page: in("Audit log", "/audit", "Audit log"),
		List: ui.List{
			Action: "/audit",
			Form:   "audit-filters",
			Things: "entries",
			Text:   "198.51.100.7",
			Chips: []ui.Chip{
				{Text: "Action: Change a key", URL: "/audit?object=key_01h&q=198.51.100.7"},
				{Text: "Object: key_01h", URL: "/audit?action=key.change&q=198.51.100.7"},
			},
			Bar:      true,
			Searched: "Searched 10,000 entries.",
			ClearURL: "/audit",
			MoreURL:  "/audit?after=12&q=198.51.100.7",
		},
		Text: "198.51.100.7",
		Kept: []ui.Hidden{{Name: "object", Value: "key_01h"}},
		From: ui.Value{Text: "tomorrow", Error: "Enter a date such as 2030-01-31."},
		Teams: []ui.Option{
			{Value: "team_1", Title: "Ana", Chosen: true},
			{Value: "installation", Title: "The installation"},
		},
		Projects: []ui.Option{{Title: "All projects", Chosen: true}, {Value: "shop", Title: "Storefront API"}},
		Actions:  []ui.Option{{Title: "All actions", Chosen: true}, {Value: "key.change", Title: "Change a key"}},
		Outcomes: []ui.Option{{Title: "All outcomes", Chosen: true}, {Value: "refused", Title: "Refused"}},
	}
}
