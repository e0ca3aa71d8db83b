package views_test

import (
	"strings"

	"postern/views/products"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

// tenantStates are the pages about tenants and products.
func tenantStates() []state {
	return []state{
		{"project-tenants", projects.TenantsPage(projectTenants())},
		{"project-tenants-first", projects.TenantsPage(projectTenantsFirst())},
		{"project-tenants-wrong", projects.TenantsPage(projectTenantsWrong())},
		{"detach", projects.DetachPage(projects.Detach{
			Page:    in("Detach Acme", "/projects/shop/tenants/tnt_1", "Shop", "Tenants", "Acme"),
			Tenant:  "Acme Ltd",
			Project: "Shop",
			BackURL: "/projects/shop/tenants",
			Facts: []ui.Fact{{
				Label: "Tenant",
				Value: "acme",
				Mono:  true,
			}, {Label: "Served by", Value: "books, shop"}},
			Confirm: &ui.Confirmation{
				ID:     "detach-confirm",
				Action: "/x",
				Impact: []string{"Calls to Shop with the tenant's keys will get 403."},
				Verb:   "Detach",
				Kind:   "tenant",
				Error:  "Check the box to detach the tenant.",
			},
		})},
		{"tenants", tenants.ListPage(tenantList())},
		{"tenants-empty", tenants.ListPage(tenants.List{
			Page:   in("Tenants", "/tenants", "Tenants"),
			Create: &tenants.Create{Action: "/tenants", Team: "team_1"},
		})},
		{"tenant", tenants.SettingsPage(tenantSettings())},
		{"tenant-unserved", tenants.SettingsPage(tenantUnserved())},
		{"tenant-unserved-first", tenants.SettingsPage(tenantUnservedFirst())},
		{"tenant-viewer", tenants.SettingsPage(tenantViewer())},
		{"products", products.ListPage(productList())},
		{"products-empty", products.ListPage(products.List{
			Page: in("Products", "/products", "Products"),
			Create: &products.Create{Open: true, Action: "/products", Team: "team_1",
				Name: ui.Value{Text: "Store", Error: "Use 2 to 40 lowercase letters, digits or hyphens. Start with a " +
					"letter and don't end with a hyphen."}},
		})},
		{"product", products.ProductPage(product())},
		{"product-empty", products.ProductPage(productEmpty())},
	}
}

func projectTenants() projects.Tenants {
	return projects.Tenants{
		Page: in("Tenants", "/projects/shop/tenants", "Shop", "Tenants"),
		Head: tenantsHead(),
		List: listed("/projects/shop/tenants", "tenants", "name"),
		Add: &projects.TenantAdd{
			Action:     "/projects/shop/tenants",
			Attachable: []ui.Option{{Value: "globex", Title: "globex"}},
		},
		Rows: []projects.TenantRow{
			{
				URL:           "/tenants/tnt_1",
				Name:          "acme",
				DisplayName:   "Acme Ltd",
				FallbackOwner: "acme-app",
				OtherProjects: []ui.Link{{
					URL:  "/projects/books",
					Text: "books",
				}, {URL: "/projects/billing", Text: "billing"}},
				DetachURL: "/projects/shop/tenants/tnt_1",
			},
			{URL: "/tenants/tnt_0", Name: "default", DisplayName: "default", Own: true},
			{
				URL:           "/tenants/tnt_2",
				Name:          "the-international-company",
				DisplayName:   "The International Company for Everything and More",
				FallbackOwner: strings.Repeat("long-", 12) + "owner",
				DetachURL:     "/projects/shop/tenants/tnt_2",
			},
		},
	}
}

func tenantsHead() projects.Head {
	head := configure().Head
	return head
}

func projectTenantsFirst() projects.Tenants {
	m := projectTenants()
	m.Rows, m.List, m.Add = m.Rows[1:2], ui.List{}, nil
	return m
}

func projectTenantsWrong() projects.Tenants {
	m := projectTenants()
	m.Add.Open, m.Add.Name = true, ui.Value{
		Text:  "Acme",
		Error: "Use 2 to 40 lowercase letters, digits or hyphens. Start with a letter and don't end with a hyphen.",
	}
	m.Add.FallbackOwner = ui.Value{Text: "x\ny", Error: "Use at most 128 characters on one line."}
	m.Add.Error = "An unclaimed workspace can have at most 10 tenants. Claim it to add more."
	return m
}

func tenantList() tenants.List {
	return tenants.List{
		Page:   in("Tenants", "/tenants", "Tenants"),
		List:   listed("/tenants", "tenants", "created", "name"),
		Create: &tenants.Create{Action: "/tenants", Team: "team_1"},
		Rows: []tenants.Row{
			{
				URL:         "/tenants/tnt_0",
				Name:        "default",
				DisplayName: "default",
				Projects:    []ui.Link{{URL: "/projects/shop", Text: "shop"}},
			},
			{
				URL:           "/tenants/tnt_1",
				Name:          "acme",
				DisplayName:   "Acme Ltd",
				FallbackOwner: "acme-app",
				Projects: []ui.Link{{
					URL:  "/projects/books",
					Text: "books",
				}, {URL: "/projects/shop", Text: "shop"}},
			},
			{URL: "/tenants/tnt_2", Name: "globex", DisplayName: "Globex"},
		},
	}
}

func tenantHead(current int) tenants.Head {
	tabs := []ui.Tab{{
		URL:  "/tenants/tnt_1",
		Text: "Settings",
	}, {
		URL:  "/tenants/tnt_1/users",
		Text: "Users",
	}, {URL: "/tenants/tnt_1/groups", Text: "Groups"}, {URL: "/tenants/tnt_1/signup", Text: "Sign-up"}}
	tabs[current].Current = true
	return tenants.Head{Name: "acme", DisplayName: "Acme Ltd", Tabs: tabs}
}

func tenantUnserved() tenants.Settings {
	m := tenantSettings()
	m.Projects, m.Attach = nil, &tenants.Attach{
		Action:    "/tenants/tnt_1/projects",
		Projects:  []ui.Option{{Value: "shop", Title: "shop"}, {Value: "books", Title: "books"}},
		Truncated: true,
		Error:     "A project can serve at most 100 tenants.",
	}
	return m
}

func tenantUnservedFirst() tenants.Settings {
	m := tenantSettings()
	m.Projects, m.Attach = nil, &tenants.Attach{Action: "/tenants/tnt_1/projects", NewProject: "/projects/new"}
	return m
}

func tenantSettings() tenants.Settings {
	return tenants.Settings{
		Page:     in("Acme Ltd", "/tenants/tnt_1", "Tenants", "Acme Ltd"),
		Head:     tenantHead(0),
		Projects: []ui.Link{{URL: "/projects/books", Text: "books"}, {URL: "/projects/shop", Text: "shop"}},
		Facts: []ui.Fact{{
			Label: "ID",
			Value: "tnt_06gzmya1qyc2qrsf2sajaysmj4",
			Mono:  true,
		}, {Label: "Belongs to", Value: "the team"}, {Label: "Created", Value: "20 Nov 2026 13:41 UTC"}},
		Change: &tenants.Change{
			Action:        "/tenants/tnt_1",
			Revision:      "x",
			DisplayName:   ui.Value{Text: "Acme Ltd"},
			FallbackOwner: ui.Value{Text: "acme\tapp", Error: "Use at most 128 characters on one line."},
		},
		CORS: tenantCORS(),
		Delete: &ui.Confirmation{
			ID:     "erase-confirm",
			Action: "/tenants/tnt_1/delete",
			Verb:   "Delete",
			Kind:   "tenant",
			Name:   "Acme Incorporated",
			Type:   "acme",
			Facts: []ui.Fact{
				{Label: "Users", Value: "1,204"},
				{Label: "App clients", Value: "2"},
				{Label: "API keys", Value: "12 (3 active)"},
			},
			Impact: []string{
				"1,204 calls from 3 owners since 13:00 UTC.",
				"Everything listed above will be deleted. The tenant's keys and its users' sessions will stop " +
					"working immediately.",
			},
			Typed: ui.Value{Text: "acm", Error: "Type the tenant's name, acme, to delete the tenant and everything " +
				"in it."},
		},
	}
}

func tenantViewer() tenants.Settings {
	m := tenantSettings()
	m.Change, m.Delete, m.Projects = nil, nil, nil
	m.CORS.Action = ""
	return m
}

func tenantCORS() ui.CORS {
	m := cors()
	m.Action, m.Apps, m.Overrides = "/tenants/tnt_1/cors", "tenant's", nil
	m.Hint = "These settings override the projects' settings for calls with this tenant's keys and tokens. " +
		"For preflights, project and tenant settings are combined. If you don't list any origins, the projects' " +
		"settings apply."
	return m
}

func productList() products.List {
	return products.List{
		Page:   in("Products", "/products", "Products"),
		List:   listed("/products", "products", "created", "name"),
		Create: &products.Create{Action: "/products", Team: "team_1"},
		Rows: []products.Row{
			{
				URL:         "/products/prd_1",
				Name:        "storefront",
				DisplayName: "Storefront",
				Projects: []ui.Link{{
					URL:  "/projects/books",
					Text: "books",
				}, {
					URL:  "/projects/shop",
					Text: "shop",
				}, {URL: "/projects/weather", Text: "weather-forecasts-and-history"}},
			},
			{URL: "/products/prd_2", Name: "back-office", DisplayName: "Back office"},
		},
	}
}

func product() products.Product {
	return products.Product{
		Page:        in("Storefront", "/products/prd_1", "Products", "Storefront"),
		Name:        "storefront",
		DisplayName: "Storefront",
		Facts: []ui.Fact{{
			Label: "Name",
			Value: "storefront",
			Mono:  true,
		}, {
			Label: "ID",
			Value: "prd_06gzmy9xz92rp83d3xrt7h4yrg",
			Mono:  true,
		}, {Label: "Created", Value: "20 Nov 2026 13:41 UTC"}},
		Projects: []ui.Link{{URL: "/projects/books", Text: "books"}, {URL: "/projects/shop", Text: "shop"}},
		Rename:   &products.Rename{Action: "/products/prd_1", Revision: "x", DisplayName: ui.Value{Text: "Storefront"}},
		Delete: &ui.Confirmation{
			ID:     "delete-confirm",
			Action: "/products/prd_1/delete",
			Verb:   "Delete",
			Kind:   "product",
			Impact: []string{"It has no projects."},
			Error:  "A project was just added to the product.",
		},
	}
}

func productEmpty() products.Product {
	m := product()
	m.Projects, m.Rename, m.Delete = nil, nil, nil
	return m
}
