package views_test

import (
	"strings"
	"time"

	"postern/core/contract"
	"postern/views/exports"
	"postern/views/projects"
	"postern/views/ui"
)

// plannedAt is when the plans of the states were made.
var plannedAt = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func importWaiting() projects.Import {
	m := importEmpty()
	m.PlanError = "Line 12: The member \"routes\" already appears on line 4. Remove one of them: only the last one " +
		"would be used."
	m.Earlier = []projects.EarlierImport{
		{
			URL: "/imports/pln_1", Name: "a-name-of-a-gateway-that-is-quite-long", State: contract.ImportPlanned,
			Created: plannedAt, Expires: plannedAt.Add(23 * time.Hour),
		},
		{URL: "/imports/pln_2", Name: "kong", State: contract.ImportApplying, Created: plannedAt},
		{URL: "/imports/imp_1", Name: "kong", State: contract.ImportApplied, Created: plannedAt},
	}
	return m
}

// plannedImport is a plan with a project of each kind.
func plannedImport() *contract.PlannedImport {
	key := contract.RequestsAuth{Mode: contract.Authenticate}
	key.APIKey.In = []contract.KeyPlace{{Header: "apikey"}, {Query: "apikey"}}
	domain := func(path string, methods ...string) contract.PlannedDomain {
		return contract.PlannedDomain{NewDomain: contract.NewDomain{
			Host: "a-host-name-that-is-rather-long.api.example.com", PathPrefix: path, Methods: methods,
		}}
	}
	version := func(name, target string, auth contract.RequestsAuth, domains ...contract.PlannedDomain,
	) contract.PlannedVersion {
		return contract.PlannedVersion{
			Name: name, RequestsAuth: auth, Closed: name == "closed", Domains: domains,
			Environment: contract.PlannedEnvironment{NewEnvironment: contract.NewEnvironment{Target: target}},
		}
	}
	const target = "https://orders.internal.a-company-with-a-long-name.example:8443/base"
	return &contract.PlannedImport{
		ID: "pln_1", State: contract.ImportPlanned, ETag: "x", ExpiresAt: plannedAt.Add(23 * time.Hour),
		Filled: []string{"STOCK_HOST"}, ImportPlan: contract.ImportPlan{
			Source: "kong 3.0", Product: "kong", Tenant: "kong", OwnerCount: 1204,
			Keys:    contract.PlannedKeys{Imported: 48000, Frozen: 12, Expired: 3, Weak: 7},
			Groups:  []contract.NewGroup{{Name: "gold"}},
			Summary: contract.LedgerCounts{Exact: 48211, Approximate: 19, Lossy: 6, Skipped: 2},
			Projects: []contract.PlannedProject{
				{Name: "orders", Versions: []contract.PlannedVersion{
					version("1.0.0", target, key, domain("/orders"), domain("/returns", "GET", "POST")),
					version("closed", target, key, domain("/admin")),
				}},
				{Name: "status", Versions: []contract.PlannedVersion{
					version("1.0.0", "http://status.example.net", contract.RequestsAuth{Mode: contract.Passthrough}),
				}},
			},
		},
	}
}

func importPlan() exports.Plan {
	p := plannedImport()
	preview := exportPreview()
	return exports.Plan{
		Page: in("Import plan", "/imports/pln_1", "Projects", "Import", "Plan"), Plan: p, Action: "/imports/pln_1",
		Ledger:   *ledgerOf(p.Summary),
		Sections: preview.Sections[:3],
		Expires:  p.ExpiresAt,
		Open: ui.Group{
			ID: "plan-open", Name: "open", Legend: "Allow",
			Hint: "Calls to these routes and from these consumers are refused because some of their checks can't be " +
				"imported. Select the ones to allow without these checks.",
			Options: []ui.Option{
				{Value: "status", Title: "status", Chosen: true},
				{Value: "/services/0/routes/1", Title: "route admin (line 14)",
					Text: "the plugin openid-connect can't be imported"},
			},
		},
		Stuck: []contract.ClosedEntity{
			{Kind: "route", Name: "by-header", Line: 40, Reasons: []string{"it matches by headers"}},
		},
		Hosts: ui.Value{Text: "www.example.com\n*.example.com", Error: "*.example.com: You can't use wildcards."},
		Unset: []exports.Unset{
			{
				ImportPlaceholder: contract.ImportPlaceholder{Name: "ORDERS_TOKEN", Line: 9, Count: 1},
				Error:             "Use 1 to 4,096 printable characters.",
			},
		},
		Offers: ui.Group{
			ID: "plan-offers", Name: "trust", Legend: "Trust",
			Hint: "The certificates of these targets aren't accepted.",
			Options: []ui.Option{{
				Value: "orders.internal.a-company-with-a-long-name.example",
				Title: "orders.internal.a-company-with-a-long-name.example",
				Text:  "CN=Internal CA, SHA-256 " + strings.Repeat("1b2c3d4e", 8) + ", expires 2027-11-28",
			}},
		},
		Targets: []ui.Fact{
			{
				Label: "https://orders.internal.a-company-with-a-long-name.example:8443",
				Value: "The certificate is from an authority that isn't trusted here, or its chain is incomplete.",
			},
		},
		Reached: "No problems found with 1,203 other targets.",
		ByHand: []ui.Fact{
			{
				Label: "Host names that need DNS records and certificates",
				Value: strings.Repeat("api.example.com, ", 8) + "www.example.com",
			},
			{Label: "Addresses to add to POSTERN_EGRESS_ALLOW", Value: "10.0.0.7/32"},
		},
		Notes: []string{"Limits count each project's calls separately. All counts start at zero after the move."},
	}
}

func importPlanApplying() exports.Plan {
	m := importPlan()
	m.Plan.State, m.Plan.Projects, m.Hosts = contract.ImportApplying, nil, ui.Value{}
	m.Refused = "The name \"orders\" is taken by another project."
	m.ByHand, m.Notes, m.Unset, m.Stuck, m.Open.Options = nil, nil, nil, nil, nil
	return m
}

func importApplied() exports.MovedIn {
	did := &contract.MovedIn{
		ID: "imp_1", Source: "kong 3.0", CreatedAt: plannedAt, Unchanged: 4, ToDo: make([]contract.LedgerLine, 1),
		Kept: contract.MovedList{Total: 1, Items: []contract.MovedObject{
			{
				Kind: "environment", Name: "prod of orders",
				Detail: "It was changed here after the last import and differs from the file.",
			},
		}},
		Vanished: contract.MovedList{Total: 1204, Items: []contract.MovedObject{
			{
				Kind: "owner", Name: "billing-service",
				Detail: "It is no longer in the file. Delete it if nothing uses it.",
			},
		}},
	}
	return exports.MovedIn{
		Page:   in("Import result", "/imports/imp_1", "Projects", "Import", "Import of 28 Nov 2026, 13:41 UTC"),
		Import: did,
		Facts: []ui.Fact{
			{Label: "Projects created", Value: "2"}, {Label: "API keys created", Value: "48,000"},
			{Label: "Unchanged", Value: "4"},
		},
		Projects: []exports.MovedProject{{
			Page: "/projects/orders", Domains: "/projects/orders/domains",
			MovedProject: contract.MovedProject{
				Name: "orders", URLs: []string{"https://orders.gateway.example/1.0.0/prod"},
			},
			ClosedVersions: []ui.Link{{Text: "closed", URL: "/projects/orders/versions/closed/rules"}},
		}},
		ToDo:    exportPreview().Sections[:1],
		UndoURL: "/imports/imp_1/undo",
		Error:   "The project orders was changed since the import.",
	}
}
