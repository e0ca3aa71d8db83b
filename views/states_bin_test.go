package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

// binStates are the pages about deleted projects, and about the deletion of one.
func binStates() []state {
	return []state{
		{"bin", projects.BinPage(projects.Bin{
			Page: in("Trash", "/bin", "Trash"),
			List: listed("/bin", "projects", "name", "created"),
			Rows: []projects.BinRow{{
				Name:        "shop",
				DisplayName: "Storefront API",
				URL:         "/projects/shop",
				Deleted:     on("12 Nov 2026"),
				Purge:       on("12 Dec 2026"),
				RestoreURL:  "/projects/shop/restore",
				EraseURL:    "/projects/shop/delete",
				ExportURL:   "/projects/shop/export",
			}, {
				Name:        "weather-forecasts-and-history",
				DisplayName: "Weather forecasts and history for every place on earth",
				URL:         "/projects/weather-forecasts-and-history",
				Deleted:     on("11 Nov 2026"),
				Purge:       on("11 Dec 2026"),
				ExportURL:   "/projects/weather-forecasts-and-history/export",
			}},
		})},
		{"bin-empty", projects.BinPage(projects.Bin{Page: in("Trash", "/bin", "Trash")})},
		{"delete-project", projects.DeletionPage(projects.Deletion{
			Page:      in("Delete Shop", "/projects/shop/delete", "Shop", "Delete"),
			Project:   "Storefront API",
			Facts:     []ui.Fact{{Label: "API keys", Value: "1,204 (987 active)"}, {Label: "Users", Value: "3"}},
			Newest:    ago(3),
			ExportURL: "/projects/shop/export",
			Notes: []string{"7 of the keys are also valid for other projects in the product storefront. They'll stop " +
				"working there too."},
			Confirm: &ui.Confirmation{
				ID:     "delete-confirm",
				Action: "/projects/shop/delete",
				Impact: []string{"All calls will get 410."},
				Verb:   "Delete",
				Kind:   "project",
				Error:  "Check the box to delete the project.",
			},
			Erase: &ui.Confirmation{
				ID:     "erase-confirm",
				Action: "/projects/shop/delete",
				Verb:   "Delete",
				Kind:   "project",
				Title:  "Delete permanently",
				Name:   "shop",
				Type:   "shop",
				Impact: []string{
					"1,204 calls from 3 owners since 13:00 UTC.",
					"Everything listed above will be deleted immediately. After that, anyone can use the name.",
				},
				Typed: ui.Value{
					Text: "shopp", Error: "Type shop to confirm.",
				},
			},
			BackURL: "/projects/shop",
		})},
		{"delete-project-binned", projects.DeletionPage(projects.Deletion{
			Page:       in("Delete Shop", "/projects/shop/delete", "Shop", "Delete"),
			Project:    "Weather forecasts and history for every place on earth",
			Facts:      []ui.Fact{{Label: "API keys", Value: "none"}, {Label: "Users", Value: "none"}},
			ExportURL:  "/projects/shop/export",
			RestoreURL: "/projects/shop/restore",
			Erase: &ui.Confirmation{
				ID:     "erase-confirm",
				Action: "/projects/shop/delete",
				Verb:   "Delete",
				Kind:   "project",
				Title:  "Delete permanently",
				Type:   "weather-forecasts-and-history",
			},
			BackURL: "/projects/shop",
		})},
		{"delete-project-viewer", projects.DeletionPage(projects.Deletion{
			Page:      in("Delete Shop", "/projects/shop/delete", "Shop", "Delete"),
			Project:   "Storefront API",
			Facts:     []ui.Fact{{Label: "API keys", Value: "1,204 (987 active)"}},
			Newest:    ago(3),
			ExportURL: "/projects/shop/export",
			BackURL:   "/projects/shop",
		})},
	}
}
