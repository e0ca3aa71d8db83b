package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

// ruleStates are the pages of a version's rules.
func ruleStates() []state {
	return []state{
		{"rules", projects.RulesPage(rulesOfShop())},
		{"rules-empty", projects.RulesPage(rulesEmpty())},
		{"rules-wrong", projects.RulesPage(rulesWrong())},
		{"rules-viewer", projects.RulesPage(rulesViewer())},
		{"relations", projects.RelationsPage(relationsOfShop())},
		{"relations-empty", projects.RelationsPage(relationsEmpty())},
		{"relations-wrong", projects.RelationsPage(relationsWrong())},
		{"relations-none-found", projects.RelationsPage(relationsNoneFound())},
		{"relations-viewer", projects.RelationsPage(relationsViewer())},
		{"relation-forget", projects.RelationPage(relationToForget())},
		{"relation-gone", projects.RelationPage(relationGone())},
	}
}

func rulesOfShop() projects.Rules {
	const path = "/projects/shop/versions/ver_1/rules"
	return projects.Rules{
		Page:    in("Rules for 1.0.0", path, "Shop", "Rules for 1.0.0"),
		Version: "1.0.0",
		Facts: []ui.Fact{
			{Label: "Routes without a rule", Value: "denied"},
			{Label: "Read and write scopes", Value: "required if no rule requires a scope"},
			{Label: "Mode", Value: "enforce"},
		},
		Rows: []projects.RuleRow{
			{Methods: "GET", Path: "/orders/{id}", Needs: "scope orders:read", Mode: "enforce"},
			{
				Methods: "POST",
				Path:    "/orders",
				Needs:   "no further requirements; remembers order:{response.id}",
				Mode:    "enforce",
				Missed: []string{"couldn't find an object in 12 responses: the body doesn't contain the member " +
					"that the rule names"},
			},
			{
				Methods: "POST, DELETE",
				Path:    "/customers/{customer}/branches/{branch}/invoices/archived-and-closed/{invoice}",
				Needs:   "scopes " + longScope + " and orders:write; admin of staff or support",
				Mode:    "shadow",
				Shadow:  "would have refused 14 calls",
			},
		},
		Shadow: []string{"Would have refused 2 calls to routes without a rule."},
		Form: &projects.RulesForm{
			Action:    path,
			Revision:  "41",
			Default:   "deny",
			Mode:      "enforce",
			ReadWrite: true,
			Lines:     ui.Value{Text: "GET /orders/{id} scopes=orders:read"},
		},

		ExplainURL:   "/projects/shop/explain?version=1.0.0",
		RelationsURL: "/projects/shop/relations",
	}
}

func rulesEmpty() projects.Rules {
	m := rulesOfShop()
	m.Rows, m.Shadow, m.Form.Lines = nil, nil, ui.Value{}
	return m
}

func rulesWrong() projects.Rules {
	m := rulesOfShop()
	m.Form.Lines = ui.Value{
		Text: "GET /orders/* scopes=orders:read\nGET orders",
		Error: "Line 1: /orders/* contains a wildcard that rules don't support, such as *, ..., :id or %7Bid%7D. " +
			"Use {id} for one segment, or /** at the end for everything below. Line 2: orders doesn't start with a " +
			"slash. Use a path under the environment's URL, such as /orders/{id}.",
	}
	return m
}

func rulesViewer() projects.Rules {
	m := rulesOfShop()
	m.Form = nil
	return m
}
