package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

// apiStates are the pages of a project's API scopes.
func apiStates() []state {
	return []state{
		{"api-scopes", projects.APIScopesPage(apiScopes())},
		{"api-scopes-empty", projects.APIScopesPage(apiScopesEmpty())},
		{"api-scopes-wrong", projects.APIScopesPage(apiScopesWrong())},
		{"api-scopes-viewer", projects.APIScopesPage(apiScopesViewer())},
		{"api-scope", projects.APIScopePage(apiScope())},
		{"api-scope-wrong", projects.APIScopePage(apiScopeWrong())},
		{"api-scope-viewer", projects.APIScopePage(apiScopeViewer())},
	}
}

const longScope = "invoices:archived:read-only.of-the-whole-company_and_its_branches"

func apiScopes() projects.APIScopes {
	const path = "/projects/shop/api-scopes"
	return projects.APIScopes{
		Page: in("API scopes", path, "Shop", "Login", "API scopes"),
		Rows: []projects.APIScopeRow{
			{Name: "orders:read", Description: "see your orders", URL: path + "/orders:read"},
			{Name: "orders:write", URL: path + "/orders:write"},
			{
				Name: longScope,
				Description: "read and download the invoices of the last ten years from all branches, including " +
					"branches that were closed",
				URL: path + "/" + longScope,
			},
		},
		Create: &projects.APIScopeForm{Action: path},
		Audience: projects.APIAudience{
			Action:   "/projects/shop/api-audience",
			Revision: "41",
			Audience: ui.Value{Text: "https://api.example.com"},
		},
		BackURL: "/projects/shop/login#api",
	}
}

func apiScopesEmpty() projects.APIScopes {
	m := apiScopes()
	m.Rows, m.Audience.Audience = nil, ui.Value{}
	return m
}

func apiScopesWrong() projects.APIScopes {
	m := apiScopes()
	m.Create.Open, m.Create.Error = true, "Use at most 100 scopes."
	m.Create.Name = ui.Value{Text: "openid", Error: "OpenID Connect reserves this scope. Choose another name."}
	m.Create.Description = ui.Value{Text: "x", Error: "Use at most 200 characters on one line."}
	m.Audience.Error = "Nothing was saved."
	m.Audience.Audience = ui.Value{Text: "api", Error: "Use a URI of at most 255 characters without a fragment, " +
		"such as https://api.example.com."}
	return m
}

func apiScopesViewer() projects.APIScopes {
	m := apiScopes()
	m.Create, m.Audience.Action = nil, ""
	return m
}

func apiScope() projects.APIScope {
	const path = "/projects/shop/api-scopes/orders:read"
	return projects.APIScope{
		Page:        in("API scope orders:read", path, "Shop", "Login", "API scopes", "orders:read"),
		Name:        "orders:read",
		Description: "see your orders",
		Clients: []ui.Link{
			{URL: "/projects/shop/login/cli_1", Text: "web (default)"},
			{URL: "/projects/shop/login/cli_2", Text: "billing-service-of-the-night (acme-of-europe)"},
		},
		MoreClients: "and 3 more",
		Edit: &projects.APIScopeEdit{
			Action:      path,
			Revision:    "41",
			Description: ui.Value{Text: "see your orders"},
		},
		Remove: &ui.Confirmation{
			ID:     "scope-remove",
			Action: path + "/remove",
			Verb:   "Remove",
			Kind:   "API scope",
			Impact: []string{
				"New and refreshed tokens won't include this scope. Existing tokens keep it until they expire. " +
					"5 app clients can request this scope. Sign-ins that still request it will continue without " +
					"it.",
			},
		},
		BackURL: "/projects/shop/api-scopes",
	}
}

func apiScopeWrong() projects.APIScope {
	m := apiScope()
	m.Clients, m.MoreClients = nil, ""
	m.Edit.Error = "Nothing was saved."
	m.Edit.Description = ui.Value{Text: "x", Error: "Use at most 200 characters on one line."}
	m.Remove.Error = "Check the box to remove the API scope."
	return m
}

func apiScopeViewer() projects.APIScope {
	m := apiScope()
	m.Name, m.Description = longScope, ""
	m.Edit, m.Remove = nil, nil
	return m
}

func clientAccess(action string) *projects.ClientAccess {
	return &projects.ClientAccess{
		Action:   action,
		Revision: "41",
		Grants: []ui.Option{
			{
				Value:  "authorization_code",
				Title:  "Users sign in",
				Text:   "Authorization code with PKCE.",
				Chosen: true,
			},
			{
				Value:  "refresh_token",
				Title:  "Users stay signed in",
				Text:   "Refresh tokens, for as long as the settings allow.",
				Chosen: true,
			},
			{
				Value: "client_credentials",
				Title: "Without a user",
				Text:  "Client credentials, for machines. Requires a client secret.",
			},
		},
		Scopes: ui.Value{Text: "orders:*"},
		Declared: []ui.Fact{
			{Label: "orders:read", Value: "see your orders"},
			{Label: "orders:write", Value: "place and cancel orders (project Billing)"},
			{Label: longScope},
		},
	}
}

func appClientFrozen() projects.AppClient {
	m := appClient()
	m.Frozen, m.Freeze = true, &projects.ClientFreeze{Action: "/projects/shop/login/cli_1/unfreeze", Frozen: true}
	m.TestProblem = "The app client is frozen, so users can't sign in. Unfreeze it below."
	return m
}
