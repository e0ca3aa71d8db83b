package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

const relationsURL = "/projects/shop/relations"

func relationsOfShop() projects.Relations {
	tenants := []ui.Option{{Value: "acme", Title: "acme"}, {Value: "default", Title: "default", Chosen: true}}
	forget := relationsURL + "/forget?object=order%3A42&tenant=acme&user=usr_01"
	return projects.Relations{
		Page: in("Object owners", relationsURL, "Shop", "Object owners"),
		List: ui.List{
			Action: relationsURL,
			Things: "owners",
			Search: "Object or owner",
			Columns: []ui.Column{
				{ID: "object", Text: "Object", URL: relationsURL + "?dir=desc&sort=object", Sort: "ascending"},
				{ID: "user", Text: "Owner", URL: relationsURL + "?dir=asc&sort=user"},
				{ID: "created", Text: "Since", URL: relationsURL + "?dir=desc&sort=created"},
			},
			Filters: []ui.Filter{{
				Title:   "Tenant",
				Options: []ui.Tab{{URL: relationsURL + "?tenant=acme", Text: "acme"}},
			}},
			Bar:     true,
			Total:   "3 of 312 owners",
			MoreURL: relationsURL + "?after=abc",
		},
		Rows: []projects.RelationRow{
			{
				Object:    "order:42",
				User:      "usr_01kfq2x9d3m8v5t7hn6c4bwz0a",
				UserURL:   "/users/usr_01kfq2x9d3m8v5t7hn6c4bwz0a",
				Tenant:    "acme",
				Since:     on("20 Nov 2026"),
				ForgetURL: forget,
			},
			{
				Object:    "order:43",
				User:      "billing-service",
				AllURL:    relationsURL + "?user=billing-service",
				Tenant:    "default",
				Since:     on("20 Nov 2026"),
				ForgetURL: forget,
			},
			{
				Object:    "invoice:customers%2F1234567890/a-branch-with-a-long-name/2026-11-20-0000000000000001",
				User:      "248289761001 (https://login.identity-provider-of-a-customer.example.com/realms/everyone)",
				Tenant:    "default",
				Since:     on("21 Nov 2026"),
				ForgetURL: forget,
			},
		},
		ByTenant: true,
		Add:      &projects.RelationAdd{Action: relationsURL, Tenants: tenants},
		Import:   &projects.RelationImport{Action: relationsURL + "/import"},
		Missed: []projects.RelationMiss{
			{
				Route:    "POST /orders",
				Version:  "1.0.0",
				RulesURL: "/projects/shop/versions/ver_1/rules",
				Answers:  "12 responses",
				Reason:   "the body doesn't contain the member that the rule names",
				Last:     on("21 Nov 2026"),
			},
			{
				Version:  "1.0.0",
				RulesURL: "/projects/shop/versions/ver_1/rules",
				Answers:  "1 response",
				Reason:   "the body is over 1 MB",
				Last:     on("20 Nov 2026"),
			},
		},
		Curl: "curl http://localhost:8080/api/v1" + relationsURL +
			" \\\n  -d '{\"user\": \"billing-service\", \"object\": \"order:42\"}'",
		BackURL: "/projects/shop",
	}
}

func relationsEmpty() projects.Relations {
	m := relationsOfShop()
	m.Rows, m.Missed, m.ByTenant = nil, nil, false
	m.List, m.Add.Tenants = ui.List{Action: relationsURL, Things: "owners"}, nil
	return m
}

func relationsWrong() projects.Relations {
	m := relationsOfShop()
	m.Add.Open, m.Import.Open = true, true
	m.Add.Object = ui.Value{Text: "42", Error: "Use a type, a colon and an ID, such as order:42."}
	m.Add.Error = "Nothing was added."
	m.Import.Error = "Owner 5013 in the file: Use a type, a colon and an ID, such as order:42."
	m.Wrong = "Use a type, a colon and an ID, such as order:42."
	return m
}

func relationsNoneFound() projects.Relations {
	m := relationsEmpty()
	m.List.Text, m.List.ClearURL, m.List.Search = "order:9", relationsURL, "Part of object or owner"
	m.List.Searched, m.List.MoreURL = "Searched 10,000 owners.", relationsURL+"?after=abc&q=order%3A9"
	return m
}

func relationsViewer() projects.Relations {
	m := relationsOfShop()
	m.Add, m.Import, m.Curl = nil, nil, ""
	for i := range m.Rows {
		m.Rows[i].ForgetURL = ""
	}
	return m
}

func relationToForget() projects.Relation {
	return projects.Relation{
		Page:   in("Remove the owner of order:42", relationsURL+"/forget", "Shop", "Object owners", "order:42"),
		Object: "order:42",
		Facts: []ui.Fact{
			{Label: "Object", Value: "order:42", Mono: true},
			{Label: "Owner", Value: "billing-service", Mono: true},
			{Label: "Tenant", Value: "default"},
			{Label: "Since", Value: "20 Nov 2026, 13:05 UTC"},
		},
		Forget: &ui.Confirmation{
			ID:     "relation-forget",
			Action: relationsURL + "/forget",
			Hidden: []ui.Hidden{{Name: "object", Value: "order:42"}, {Name: "user", Value: "billing-service"}},
			Verb:   "Remove",
			Kind:   "owner",
			Impact: []string{
				"Starting with the next call, rules that require the owner will refuse this caller's calls to the " +
					"object.",
			},
			Error: "Check the box to remove the owner.",
		},
		BackURL: relationsURL,
	}
}

func relationGone() projects.Relation {
	m := relationToForget()
	m.Facts, m.Forget = nil, nil
	return m
}
