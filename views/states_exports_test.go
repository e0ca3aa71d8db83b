package views_test

import (
	"postern/views/exports"
	"postern/views/ui"
)

func exportPreview() exports.Preview {
	const path = "/projects/shop/export/preview"
	return exports.Preview{
		Page:    in("What leaves Shop", path, "Shop", "Export", "What leaves"),
		Project: "Shop",
		Formats: []ui.Tab{
			{URL: path + "?format=gateway", Text: "Kong gateway", Current: true},
			{URL: path + "?format=data", Text: "Data only"},
		},
		AskURL:  "/projects/shop/export",
		Ledger:  exports.Ledger{Exact: 48211, Approximate: 19, Lossy: 6, Skipped: 2},
		Partial: true,
		Sections: []exports.Section{
			{ID: "skipped", Title: "Stays behind", Text: "not carried over at all", Open: true, Lines: []exports.LedgerLine{{
				Code:   "kong.login_sessions.not_transferable",
				Kind:   "Login sessions",
				Count:  1,
				Note:   "Active login sessions end with the hosted service. They are never exported, nor are refresh tokens.",
				Remedy: "Users sign in again where you move your applications to.",
				Names:  []string{"login_sessions"},
			}, {
				Code:  "kong.object_ownership.not_recorded",
				Kind:  "Object ownership",
				Count: 1,
				Note:  "Live ownership of objects is not part of this export; Postern recorded none for this project.",
			}}},
			{ID: "approximate", Title: "Moves, with a difference", Text: "close; each line states the difference", Open: true,
				Lines: []exports.LedgerLine{{
					Code:  "kong.route.regex_path",
					Kind:  "Route",
					Count: 1204,
					Note: "The same paths reach the upstream, on whole segments, normalized alike. At worst an address that the " +
						"hosted proxy answers 404 is answered too.",
					Names: []string{"/1.0.0/prod", "/shop/1.0.0/prod", "/a-name-as-long-as-they-can-be/2026-11-01/production"},
				}}},
			{ID: "exact", Title: "Moves exactly", Text: "the same call gets the same answer", Lines: []exports.LedgerLine{{
				Code:  "kong.key.same_key",
				Kind:  "API key",
				Count: 48000,
				Note:  "The key opens the exported gateway as it opens this one.",
				Names: []string{"pst_prod_…wXyZ", "pst_prod_…aBcD"},
			}}},
		},
	}
}

func exportPreviewLate() exports.Preview {
	m := exportPreview()
	m.Problem = "The preview took longer than 10 seconds. Make an export instead: it has the whole ledger."
	return m
}
