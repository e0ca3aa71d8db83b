package views_test

import (
	"postern/views/audit"
	"postern/views/ui"
)

func auditLog() audit.Log {
	m := auditNothing()
	m.Filtered, m.Object, m.From.Error, m.From.Text = false, "", "", ""
	m.OlderURL, m.NewURL = "/audit?before=12", "/audit"
	m.Entries = []audit.Entry{
		{
			ID:    "aud_1",
			Time:  "20 Nov 2026, 14:03:22",
			Stamp: "2026-11-20T14:03:22Z",
			Who:   "ana@example.com",
			Text:  "froze key …x7Qa of shop",
			URL:   "/projects/shop/keys/key_1",
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
			Stamp:   "2026-11-20T14:03:20Z",
			Who:     "An account outside of this team",
			Text:    "tried to read a project of shop",
			Refused: true,
			Facts:   []ui.Fact{{Label: "Action", Value: "project.read", Mono: true}},
		},
		{
			ID:    "aud_3",
			Time:  "20 Nov 2026, 14:03:19",
			Stamp: "2026-11-20T14:03:19Z",
			Who:   "somebody.with.a.very.long.address.indeed@a-rather-long-name-of-a-company.example.com",
			Text:  "changed the target of shop",
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
		Page:     in("Audit log", "/audit", "Audit log"),
		Here:     "/audit",
		Filtered: true,
		Object:   "key_01h",
		From:     ui.Value{Text: "tomorrow", Error: "Give a day such as 2030-01-31."},
		Teams: []ui.Option{
			{Value: "team_1", Title: "Ana", Chosen: true},
			{Value: "installation", Title: "The installation"},
		},
		Projects: []ui.Option{{Title: "Every project", Chosen: true}, {Value: "shop", Title: "Storefront API"}},
		Actions:  []ui.Option{{Title: "Everything", Chosen: true}, {Value: "key.change", Title: "key: change"}},
		Outcomes: []ui.Option{{Title: "Done and refused", Chosen: true}, {Value: "refused", Title: "Refused"}},
	}
}
