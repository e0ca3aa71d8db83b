package views_test

import (
	"postern/views/projects"
	"postern/views/search"
	"postern/views/ui"
)

// searchStates are the search and the list of shortcuts.
func searchStates() []state {
	return []state{
		{"keys-revoke", projects.KeyBulkPage(projects.KeyBulk{
			Page:   in("Revoke 4 keys", "/projects/shop/keys", "Storefront API", "Revoke 4 keys"),
			Title:  "Revoke 4 keys",
			Action: "/projects/shop/keys/change",
			Do:     "revoke",
			Keys:   keyList().Rows,
			Impact: []string{
				"3 owners made calls with them in the last hour: billing-service, nightly-import and ana@example.com.",
				"Calls with a revoked key get 401.",
			},
			Tick:    "Revoke 4 keys",
			Button:  "Revoke 4 keys",
			Danger:  true,
			BackURL: "/projects/shop/keys",
		})},
		{"search", search.SearchPage(searched())},
		{
			"search-nothing",
			search.SearchPage(search.Search{Page: in("Search", "/search", "Search"), Said: "0 results"}),
		},
		{"shortcuts", search.ShortcutsPage(search.Shortcuts{
			Page: in("Keyboard shortcuts", "/shortcuts", "Keyboard shortcuts"),
			Rows: []search.Shortcut{
				{Keys: []string{"Ctrl", "K"}, Text: "Search"}, {Keys: []string{"?"}, Text: "Show this list"},
			},
		})},
	}
}

func searched() search.Search {
	return search.Search{
		Page:    in("Search", "/search", "Search"),
		Text:    "bill",
		Project: "shop",
		Said:    "4 results",
		Groups: []search.Group{
			{ID: "projects", Title: "Projects", Found: []search.Found{
				{URL: "/projects/billing", Text: "Billing", Note: "billing"},
			}},
			{ID: "keys", Title: "Keys", Found: []search.Found{
				{
					URL:   "/projects/shop/keys/key_1",
					Text:  "billing-service",
					Note:  "pst_prod_…9dQx in shop",
					State: &ui.Badge{Tone: ui.Good, Text: "Active"},
				},
				{
					URL:   "/projects/shop/keys/key_2",
					Text:  "billing of a partner with a very long name that goes on and on",
					Note:  "pst_prod_…k2Lm in weather-forecasts-and-history",
					State: &ui.Badge{Tone: ui.Cold, Text: "Frozen"},
				},
			}},
			{ID: "pages", Title: "Pages", Found: []search.Found{{URL: "/products", Text: "Products"}}},
		},
	}
}
