package views_test

import (
	"fmt"

	"postern/core/contract"
	"postern/views/exports"
	"postern/views/ui"
)

func exportPreview() exports.Preview {
	const path = "/projects/shop/export/preview"
	return exports.Preview{
		Page:    in("Export preview for Shop", path, "Shop", "Export", "Preview"),
		Project: "Shop",
		Formats: []ui.Tab{
			{URL: path + "?format=gateway", Text: "Kong gateway", Current: true},
			{URL: path + "?format=data", Text: "Data only"},
		},
		AskURL:  "/projects/shop/export",
		Ledger:  *ledgerOf(contract.LedgerCounts{Exact: 48211, Approximate: 19, Lossy: 6, Skipped: 2}),
		Partial: true,
		Sections: []exports.Section{
			{ID: "todo", Title: "To do", Text: "Each line describes a step that you still need to " +
				"take.", Open: true, Mixed: true,
				Lines: ledgerLines(contract.LedgerLine{
					Code:       "kong.hosted_login.issuer_stays",
					Title:      "App clients",
					Status:     "lossy",
					Configured: true,
					Count:      1,
					Note:       "The app client is a token issuer of Postern, which keeps signing users in.",
					Remedy:     new("Register your applications with your own OpenID Connect provider."),
					Names:      []string{"default/web"},
				})},
			{ID: "approximate", Title: "Moves with differences", Text: "Each line describes the differences.",
				Open: true,
				Lines: ledgerLines(contract.LedgerLine{
					Code:  "kong.route.regex_path",
					Title: "Routes",
					Count: 1204,
					Note: "The same paths reach the upstream. Paths are matched by complete segments, with the same " +
						"normalization. At worst, a URL that gets 404 from the hosted gateway is served.",
					Names: []string{
						"/1.0.0/prod", "/shop/1.0.0/prod", "/a-name-as-long-as-they-can-be/2026-11-01/production",
					},
				})},
			{ID: "exact", Title: "Moves unchanged", Text: "Nothing is lost or different.",
				Lines: ledgerLines(contract.LedgerLine{
					Code:  "kong.key.same_key",
					Title: "API keys",
					Count: 48000,
					Note:  "The key keeps working. The exported gateway stores only the key's hash.",
					Names: []string{"pst_prod_…wXyZ", "pst_prod_…aBcD"},
				})},
			{ID: "everywhere", Title: "The same for every project", Text: "Every project has these items.",
				Mixed: true,
				Lines: ledgerLines(contract.LedgerLine{
					Code:   "kong.login_sessions.not_transferable",
					Title:  "Login sessions",
					Status: "skipped",
					Count:  1,
					Note:   "Login sessions exist only in Postern. Sessions and refresh tokens are never exported.",
					Remedy: new("Have users sign in again with your new provider."),
				})},
		},
	}
}

// ledgerOf returns totals with these counts of configured items, and 27 others.
func ledgerOf(configured contract.LedgerCounts) *exports.Ledger {
	out := &exports.Ledger{}
	out.LedgerCounts, out.Configured = configured, configured
	out.Skipped += 27
	return out
}

func ledgerLines(lines ...contract.LedgerLine) []exports.LedgerLine {
	out := make([]exports.LedgerLine, len(lines))
	for i, line := range lines {
		out[i].LedgerLine = line
	}
	return out
}

func exportPreviewLate() exports.Preview {
	m := exportPreview()
	m.Problem = "The preview took longer than 10 seconds. Create an export instead. It includes the full ledger."
	return m
}

func exportLedger(filtered bool) exports.Items {
	const path = "/exports/exp_1/ledger"
	m := exports.Items{
		Page:        in("Ledger for Shop", path, "Shop", "Export", "Ledger"),
		ID:          "exp_1",
		Project:     "Shop",
		Subtitle:    "Kong gateway, exported 20 Nov 2026, 13:41 UTC by ana@example.com",
		Ledger:      *ledgerOf(contract.LedgerCounts{Exact: 48211, Approximate: 1204, Lossy: 6, Skipped: 2}),
		Here:        path,
		DownloadURL: "/exports/exp_1/download",
		Areas: []ui.Option{
			{Title: "All areas", Chosen: true},
			{Value: "upstream", Title: "Routes and upstreams"},
			{Value: "keys", Title: "API keys"},
		},
		Tasks: []exports.Task{
			{ID: "task-kong.login_sessions.not_transferable", Status: "skipped", About: "Login sessions",
				URL:  path + "?code=kong.login_sessions.not_transferable",
				Text: "Have users sign in again with your new provider."},
			{ID: "task-kong.hosted_login.realm", Status: "lossy", About: "App clients, Identity providers",
				URL:  path + "?code=kong.hosted_login.realm",
				Text: "Run ./start.sh --with-login. Then change the issuer in your application."},
		},
		Sections: exportPreview().Sections,
	}
	m.Sections[2].Lines[0].AllURL = path + "?code=kong.key.same_key"
	if filtered {
		m.Status, m.Filtered, m.Sections, m.Forgotten, m.DownloadURL = "lossy", true, nil, true, ""
	}
	current := map[bool]string{false: "All 49,423", true: "Lossy 6"}[filtered]
	for _, t := range []string{"All 49,423", "Skipped 2", "Lossy 6", "Approximate 1,204", "Exact 48,211"} {
		m.Tabs = append(m.Tabs, ui.Tab{URL: path, Text: t, Current: t == current})
	}
	return m
}

func exportNames(n int) exports.Names {
	m := exports.Names{
		Page: in("API keys", "/exports/exp_1/ledger?code=kong.key.same_key", "Shop", "Export",
			"Ledger", "API keys"),
		Title:     "API keys",
		Line:      exportPreview().Sections[2].Lines[0],
		Badge:     exportPreview().Sections[2],
		LedgerURL: "/exports/exp_1/ledger",
		Forgotten: n == 0,
	}
	m.Line.Names = nil
	for i := range n {
		m.Line.Names = append(m.Line.Names, fmt.Sprintf("pst_prod_…w%03d", i))
	}
	return m
}

func exportHistory() exports.History {
	return exports.History{
		List: listed("/projects/shop/export", "exports", "created", "size"),
		Lines: []exports.Line{
			{
				URL:       "/exports/exp_1",
				Format:    "Kong gateway",
				Contents:  "API keys, users, no secrets",
				Badge:     ui.Badge{Tone: ui.Good, Text: "Ready"},
				Created:   on("20 Nov 2026"),
				By:        "ana.ferreira.da.silva@partners.example.com",
				Size:      "184 KB",
				Ledger:    ledgerOf(contract.LedgerCounts{Exact: 1048211, Approximate: 1204, Lossy: 6, Skipped: 12}),
				LedgerURL: "/exports/exp_1/ledger",
				Current:   true,
			},
			{
				URL:       "/exports/exp_0",
				Format:    "Data only",
				Contents:  "existing and new API keys, users, encrypted secrets",
				Badge:     ui.Badge{Text: "Expired"},
				Created:   on("2 Nov 2026"),
				By:        "the workspace key",
				Size:      "61 KB",
				Ledger:    ledgerOf(contract.LedgerCounts{Exact: 12, Skipped: 8}),
				LedgerURL: "/exports/exp_0/ledger",
			},
			{
				URL:      "/exports/exp_x",
				Format:   "Kong gateway",
				Contents: "no API keys, no users, no secrets",
				Badge:    ui.Badge{Tone: ui.Bad, Text: "Failed"},
				Created:  on("1 Nov 2026"),
			},
		},
	}
}

func show(s exports.State) exports.Show {
	m := exports.Show{
		Page:     in("Export", "/exports/exp_1", "Shop", "Export"),
		ID:       "exp_01JCZ8Q4M2N7",
		Project:  "Shop",
		URL:      "/exports/exp_1",
		AgainURL: "/projects/shop/export",
		State:    s,
		Options: []ui.Fact{
			{Label: "Format", Value: "Kong gateway"},
			{Label: "API keys", Value: "Hashes: existing keys keep working"},
			{Label: "Users and groups", Value: "Included, with their identities"},
			{Label: "Started", Value: "20 Nov 2026, 13:41 UTC by Ana Ferreira"},
		},
		History: exportHistory(),
	}
	if m.Running() {
		m.CancelAction = "/exports/exp_1/cancel"
	}
	switch s {
	case exports.Queued:
		m.Badge, m.Page.Refresh = ui.Badge{Text: "Queued"}, 2
		m.Progress.Part = "Starts in a moment"
	case exports.Building:
		m.Badge, m.Page.Refresh = ui.Badge{Tone: ui.Accent, Text: "Building"}, 2
		m.Progress = exports.Progress{
			Part: "Writing API keys", Done: 31_200, Total: 48_000, Rows: "31,200 of 48,000 keys",
		}
	case exports.Ready:
		m.Badge = ui.Badge{Tone: ui.Good, Text: "Ready"}
		m.File = &exports.File{
			Name: "shop-kong.zip", DownloadURL: "/exports/exp_1/download", Size: "184 KB", Expires: on("21 Nov 2026"),
			SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			Run:    "unzip shop-kong.zip -d shop-kong\nshop-kong/gateway/start.sh",
		}
		m.Ledger = ledgerOf(contract.LedgerCounts{Exact: 1284, Approximate: 4, Lossy: 1, Skipped: 7})
		m.LedgerURL = "/exports/exp_1/ledger"
	case exports.Failed:
		m.Badge = ui.Badge{Tone: ui.Bad, Text: "Failed"}
		m.Error = "The export failed. Try again. If it fails again, search the server log for the ID of this export."
	case exports.Expired:
		m.Badge, m.Ledger = ui.Badge{Text: "Expired"}, ledgerOf(contract.LedgerCounts{Exact: 12})
	case exports.Cancelled:
		m.Badge = ui.Badge{Text: "Canceled"}
	}
	return m
}

func exportChoice() exports.Choice {
	return exports.Choice{
		Page:       in("Export", "/projects/shop/export", "Shop", "Export"),
		Project:    "Shop",
		Action:     "/projects/shop/export",
		PreviewURL: "/projects/shop/export/preview",
		Consumers:  true,
		History:    exportHistory(),
	}
}
