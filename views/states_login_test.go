package views_test

import (
	"postern/views/login"
	"postern/views/projects"
	"postern/views/ui"
)

func loginStates() []state {
	return []state{
		{"login-tab", projects.LoginPage(loginTab())},
		{"login-tab-empty", projects.LoginPage(projects.Login{
			Page: in("Login", "/projects/shop/login", "Shop", "Login"),
			Head: configure().Head,
			API:  projects.LoginAPI{URL: "/projects/shop/api-scopes", Scopes: "No API scopes yet"},
		})},
		{"login-tab-wrong", projects.LoginPage(loginTabWrong())},
		{"app-client", projects.AppClientPage(appClient())},
		{"app-client-wrong", projects.AppClientPage(appClientWrong())},
		{"app-client-frozen", projects.AppClientPage(appClientFrozen())},
		{"app-client-viewer", projects.AppClientPage(appClientViewer())},
		{"app-client-secret", projects.NewSecretPage(projects.NewSecret{
			Page:   in("Client secret", "/projects/shop/login/cli_1", "Shop", "web"),
			Title:  "Client secret for web",
			Secret: "aFXyfkmk5o2h1cQm0Xk1o4m9o2h1cQm0Xk1o4m9AAAA",
			Facts:  []ui.Fact{{Label: "Client ID", Value: "cli_1", Mono: true}},
			Back:   "/projects/shop/login/cli_1",
		})},
		{"trial", projects.TestLoginPage(testLogin())},
		{"trial-failed", projects.TestLoginPage(projects.TestLogin{
			Page: testLogin().Page,
			Name: "web",
			Problem: "You didn't start this test login in this browser, it took longer than ten minutes, or its " +
				"result was already shown. Start another test login on the app client's page.",
			BackURL: "/projects/shop/login/cli_1",
		})},
		{"trial-provider", projects.TestLoginPage(projects.TestLogin{
			Page:  testLogin().Page,
			Name:  "web",
			Facts: testLogin().Facts,
			ID:    testLogin().ID,
		})},
		{"group-mappings", projects.GroupMappingsPage(groupMappings())},
		{"group-mappings-empty", projects.GroupMappingsPage(groupMappingsEmpty())},
		{"group-mappings-wrong", projects.GroupMappingsPage(groupMappingsWrong())},
		{"group-mappings-github", projects.GroupMappingsPage(groupMappingsGitHub())},
		{"group-mappings-viewer", projects.GroupMappingsPage(groupMappingsViewer())},
		{"group-mapping-removal", projects.GroupMappingRemovalPage(groupMappingRemoval())},
		{"provider-new", projects.ProviderNewPage(providerNew())},
		{"provider", projects.ProviderPage(provider())},
		{"provider-declared", projects.ProviderPage(providerDeclared())},
		{"provider-wrong", projects.ProviderPage(providerWrong())},
		{"provider-viewer", projects.ProviderPage(projects.Provider{
			Page:    in("Google", "/projects/shop/login/cli_1/providers/idp_1", "Shop", "web"),
			Label:   "Google",
			Facts:   []ui.Fact{{Label: "State", Value: "on"}, {Label: "Client ID", Value: "app-1", Mono: true}},
			BackURL: "/projects/shop/login/cli_1",
		})},
	}
}

func testLogin() projects.TestLogin {
	return projects.TestLogin{
		Page:    in("Test login to web", "/projects", "Test login to web"),
		Name:    "web",
		BackURL: "/projects/shop/login/cli_1",
		Facts: []ui.Fact{
			{Label: "Signed in", Value: "Ana Ferreira"},
			{Label: "With", Value: "Google"},
			{Label: "Scopes", Value: "openid profile email groups", Mono: true},
		},
		ID: []ui.Fact{
			{Label: "iss", Value: "\"https://postern.example/oauth/cli_06gzn4g98arxfhrj6rz4aev940\"", Mono: true},
			{Label: "email", Value: "\"ana@example.com\"", Mono: true},
			{Label: "exp", Value: "1795204800", Mono: true},
		},
		Access: []ui.Fact{
			{Label: "groups", Value: "[\"admins\"]", Mono: true},
			{Label: "tenant", Value: "\"tnt_1\"", Mono: true},
		},
		Groups: []projects.MappingOutcome{
			{
				Rule: `groups is "staff"`, Group: "employees", Values: "staff, sales",
				State: ui.Badge{Tone: ui.Good, Text: "matches"},
			},
			{
				Rule: `hd is "example.com"`, Group: "admins", Values: "not sent",
				State: ui.Badge{Tone: ui.Cold, Text: "doesn't match"},
			},
		},
		Stated: []ui.Fact{
			{Label: "groups", Value: "[\"staff\",\"sales\"]", Mono: true},
			{Label: "sub", Value: "\"10769150350006150715113082367\"", Mono: true},
		},
	}
}

func loginTab() projects.Login {
	head := configure().Head
	head.Frozen = ""
	return projects.Login{
		Page:   in("Login", "/projects/shop/login", "Shop", "Login"),
		Head:   head,
		Create: loginCreate(),
		Rows: []projects.AppClientRow{
			{
				Name:      "web",
				URL:       "/projects/shop/login/cli_1",
				Tenant:    "default",
				Kind:      "confidential",
				Providers: []string{"GitHub", "Google"},
				Redirects: []string{"https://app.example.com/callback"},
			},
			{Name: "mobile", URL: "/projects/shop/login/cli_2", Tenant: "acme", Kind: "public"},
			{
				Name:   "billing-service-of-the-night",
				URL:    "/projects/shop/login/cli_3",
				Tenant: "acme",
				Kind:   "confidential",
				Frozen: true,
			},
		},
		Warnings: []ui.Notice{
			{
				Tone: ui.Warn,
				Text: "Users can't sign in to the app client mobile yet, because it has no redirect URI. Add the URL " +
					"where your application receives the code.",
				Link: ui.Link{URL: "/projects/shop/login/cli_2#settings", Text: "Add a redirect URI"},
			},
			{Tone: ui.Warn, Text: "Users can't sign in to the app client web yet, because it has no enabled provider."},
		},
		API: projects.LoginAPI{
			URL:      "/projects/shop/api-scopes",
			Scopes:   "3 API scopes",
			Audience: "https://api.example.com",
		},
	}
}

func loginCreate() *projects.AppClientCreate {
	return &projects.AppClientCreate{
		Action:  "/projects/shop/login",
		Tenants: []ui.Option{{Value: "tnt_1", Title: "default", Chosen: true}, {Value: "tnt_2", Title: "Acme"}},
	}
}

func loginTabWrong() projects.Login {
	m := loginTab()
	m.Create = loginCreate()
	m.Create.Open, m.Create.Error = true, "A tenant can have at most 50 app clients."
	m.Create.Name = ui.Value{
		Text:  "Web",
		Error: "Use 2 to 40 lowercase letters, digits or hyphens. Start with a letter and don't end with a hyphen.",
	}
	m.Create.Redirects = ui.Value{
		Text:  "http://app.example.com/cb",
		Error: "http://app.example.com/cb: Use https. http is allowed only for 127.0.0.1, [::1] and localhost.",
	}
	return m
}

func appClient() projects.AppClient {
	path := "/projects/shop/login/cli_1"
	return projects.AppClient{
		Page:         in("web", path, "Shop", "Login", "web"),
		Name:         "web",
		ClientID:     "cli_06gzn4g98arxfhrj6rz4aev940",
		Issuer:       "https://postern.example/oauth/cli_06gzn4g98arxfhrj6rz4aev940",
		AuthorizeURL: "https://postern.example/oauth/cli_06gzn4g98arxfhrj6rz4aev940/authorize",
		Facts: []ui.Fact{
			{Label: "Kind", Value: "confidential"},
			{Label: "Redirect URIs", Value: "https://app.example.com/callback", Mono: true},
			{Label: "Tokens", Value: "Valid for 10 minutes, signed with RS256. Users stay signed in for up to " +
				"30 days."},
		},
		TestAction: path + "/test",
		Preview:    login.Preview(hostedChoose()),
		BackURL:    "/projects/shop/login",
		Providers: []projects.ProviderRow{
			{
				ID:     "idp_1",
				Label:  "GitHub",
				Text:   "The installation's shared app",
				State:  ui.Badge{Tone: ui.Good, Text: "on"},
				URL:    path + "/providers/idp_1",
				Switch: path + "/providers/idp_1/switch",
				On:     true,
			},
			{
				ID:     "idp_2",
				Label:  "Google",
				Text:   "Client ID 1234.apps.googleusercontent.com",
				State:  ui.Badge{Tone: ui.Cold, Text: "off"},
				URL:    path + "/providers/idp_2",
				Switch: path + "/providers/idp_2/switch",
			},
			{Label: "Microsoft", Text: "Not set up", Type: "microsoft", SetUp: path + "/providers?type=microsoft"},
			{Label: "Facebook", Text: "Not set up", Type: "facebook", Add: path + "/providers"},
		},
		Settings: &projects.AppClientSettings{
			Action:    path,
			Revision:  "41",
			Name:      ui.Value{Text: "web"},
			Redirects: ui.Value{Text: "https://app.example.com/callback"},
			Access:    ui.Value{Text: "10"},
			Refresh:   ui.Value{Text: "30"},
			Algorithms: []ui.Option{
				{
					Value:  "RS256",
					Title:  "RS256",
					Text:   "Supported everywhere.",
					Chosen: true,
				},
				{Value: "ES256", Title: "ES256", Text: "Smaller tokens. Strict OpenID Connect clients expect RS256."},
			},
			PKCE: []ui.Option{
				{Value: "required", Title: "Required", Text: "Every sign-in requires a code challenge.", Chosen: true},
				{Value: "when_sent", Title: "Optional", Text: "For libraries that can't send a code challenge. Only " +
					"the client secret protects their codes."},
			},
		},
		API: clientAccess(path + "/access"),
		Keys: &projects.ClientKeys{
			Action: path + "/signing-keys",
			Rows: []projects.SigningKeyRow{
				{ID: "sig_1", From: on("4 May 2026"), Until: on("3 Aug 2026")},
				{ID: "sig_2", From: on("2 Aug 2026")},
			},
		},
		Freeze: &projects.ClientFreeze{Action: path + "/freeze"},
		Branding: &projects.Branding{
			Action:     path + "/branding",
			Revision:   "41",
			PreviewURL: path + "/preview",
			Title:      ui.Value{Text: "Acme Orders"},
			Color:      ui.Value{Text: "#0a7d55"},
		},
		Secret: &projects.AppClientSecret{Action: path + "/secret", Confidential: true},
		Delete: &ui.Confirmation{
			ID:     "delete-confirm",
			Action: path + "/delete",
			Verb:   "Delete",
			Kind:   "app client",
			Impact: []string{"2 providers and the signing keys are deleted with it, and its users are signed out."},
		},
	}
}

func appClientWrong() projects.AppClient {
	m := appClient()
	m.TestProblem = "No provider is turned on, so users can't sign in yet. Set up a provider below."
	m.Providers[1].Error = "Enter the client ID that Google assigned to your app."
	m.Settings.Error, m.Settings.Algorithm = "Nothing was saved.", "Use RS256, ES256 or EdDSA."
	m.Settings.Name.Error = "This tenant already has an app client with that name. Choose another name."
	m.Settings.Access.Error = "Use 1 to 1,440 minutes."
	m.Settings.Refresh.Error = "Use 0 to 90 days."
	m.Settings.Redirects.Error, m.Settings.Logouts.Error = "x: Use a complete, percent-encoded URL such as "+
		"https://app.example.com/callback, without a user name or password.", "y: Use https, or a private-use "+
		"scheme with a dot, as in com.example.app:/callback."
	m.API.Declared, m.API.ScopesURL = nil, "/projects/shop/api-scopes"
	m.API.Error, m.API.Grant = "Nothing was saved.", "client_credentials requires a client secret. Set confidential "+
		"to true."
	m.API.Scopes = ui.Value{Text: "orders:own", Error: "orders:own: This scope isn't declared by any project that " +
		"serves the app client's tenant. Add it to the API scopes of one of these projects first."}
	m.Branding.Error = "Nothing was saved."
	m.Branding.Color.Error = "Use a color such as #0f766e."
	m.Branding.Title.Error = "Use at most 60 characters on one line."
	m.Branding.Welcome.Error = "Use at most 300 characters on one line."
	m.Branding.LogoURL.Error = "Use the https URL of an image, without a user name or password."
	m.Secret.Error, m.Delete.Error = "Check the box to confirm.", "Check the box to confirm."
	m.Keys.Error = "The key sig_2 will start signing at 2026-08-02T10:00:00Z. Rotate again after that."
	return m
}

func appClientViewer() projects.AppClient {
	m := appClient()
	m.TestAction, m.Settings, m.Branding, m.Secret, m.Freeze, m.Delete = "", nil, nil, nil, nil, nil
	m.Keys = nil
	m.API.Action = ""
	m.Providers = []projects.ProviderRow{
		{
			ID:    "idp_1",
			Label: "GitHub",
			Text:  "Client ID Iv1.0123",
			State: ui.Badge{Tone: ui.Good, Text: "on"},
			URL:   "/projects/shop/login/cli_1/providers/idp_1",
			On:    true,
		},
		{Label: "Google", Text: "Not set up"},
	}
	return m
}

func providerNew() projects.ProviderNew {
	return projects.ProviderNew{
		Page:   in("Set up GitHub", "/projects/shop/login/cli_1", "Shop", "web"),
		Label:  "GitHub",
		Type:   "github",
		Action: "/projects/shop/login/cli_1/providers",
		Issuer: &ui.Field{
			ID:          "provider-issuer",
			Name:        "issuer",
			Label:       "GitHub Enterprise server",
			Placeholder: "https://github.example.com",
			Hint:        "For your own server. Leave empty for github.com.",
			Mono:        true,
			Value:       ui.Value{Text: "x", Error: "Use an https URL."},
		},
		Managed: []ui.Option{
			{
				Value:  "true",
				Title:  "The installation's shared app",
				Text:   "Works right away. Confirms who the user is, but doesn't pass on tokens.",
				Chosen: true,
			},
			{Value: "false", Title: "Your own app", Text: "An OAuth app that you register with GitHub."},
		},
		Wrong: "This installation has no shared GitHub app. Register your own OAuth app with GitHub and use its " +
			"client_id and client_secret.",
		Error:   "An app client can have at most 20 providers.",
		BackURL: "/projects/shop/login/cli_1#providers",
	}
}

func provider() projects.Provider {
	path := "/projects/shop/login/cli_1/providers/idp_1"
	return projects.Provider{
		Page:  in("Google", path, "Shop", "web", "Google"),
		Label: "Google",
		Callback: "https://postern.example/oauth/cli_06gzn4g98arxfhrj6rz4aev940/callback/" +
			"idp_06gzn4g98arxfhrj6rz4aev940",
		Register: "In the Google Cloud console, add this URL to the authorized redirect URIs of a web application's " +
			"OAuth " +
			"client.",
		BackURL: "/projects/shop/login/cli_1#providers",
		Edit: &projects.ProviderForm{
			Action:    path,
			Revision:  "41",
			HasSecret: true,
			ClientID:  ui.Value{Text: "1234.apps.googleusercontent.com"},
			Scopes:    ui.Value{Text: "openid\nemail\nprofile"},
			On:        true,
			Tokens: projects.TokenChoice{
				Provider: "Google",
				Client: []ui.Option{
					{Value: "service", Title: "Postern's token", Text: "Short-lived.", Chosen: true},
					{Value: "provider", Title: "The provider's token", Text: "Issued by the provider itself."},
				},
				Upstream: []ui.Option{
					{Value: "service", Title: "Postern's token", Text: "The token that the application holds."},
					{
						Value:  "provider_access_token",
						Title:  "Provider's access token",
						Text:   "Lets the upstream call the provider's API.",
						Chosen: true,
					},
					{Value: "provider_id_token", Title: "Provider's ID token", Text: "Identifies the user who signed " +
						"in."},
					{Value: "none", Title: "No token", Text: "Only headers identify the caller."},
				},
			},
		},
		TestAction: path + "/test",
		Delete: &ui.Confirmation{
			ID:     "provider-confirm",
			Action: path + "/delete",
			Verb:   "Remove",
			Kind:   "provider",
			Impact: []string{"No one will be able to sign in with it anymore."},
		},
	}
}

func providerWrong() projects.Provider {
	m := provider()
	m.Edit.HasSecret, m.Edit.NeedsKey = false, true
	m.Edit.ClientID = ui.Value{Error: "Enter the client ID that Google assigned to your app."}
	m.Edit.Secret = "Google requires the client secret of your app."
	m.Edit.Scopes.Error = "a b: Use 1 to 200 printable ASCII characters, except spaces, quotes and backslashes."
	m.Edit.Tokens.Client[0].Chosen, m.Edit.Tokens.Client[1].Chosen = false, true
	m.Edit.Tokens.Upstream[1].Chosen, m.Edit.Tokens.Upstream[0].Chosen = false, true
	m.Edit.Tokens.Error = "Use service, provider_access_token, provider_id_token or none."
	m.Report = &projects.Diagnosis{
		ID:      "provider-report",
		Title:   "Google",
		Outcome: ui.Badge{Tone: ui.Bad, Text: "failed"},
		Steps: []projects.ExplainedStep{{
			Name:    "Client",
			Outcome: ui.Badge{Tone: ui.Bad, Text: "failed"},
			Detail: "The provider refuses the client ID or secret (invalid_client). Copy them again from the " +
				"provider's console.",
		}},
	}
	m.Edit.Error = "Nothing was saved."
	m.Delete.Error = "Check the box to remove the provider."
	return m
}

// providerDeclared is an Auth0 tenant, with an audience and domains that the team declared.
func providerDeclared() projects.Provider {
	m := provider()
	m.Page.Title, m.Label = "Auth0", "Auth0"
	m.Edit.Audience = &ui.Value{
		Text: "api",
		Error: "Without an audience, Auth0 issues opaque access tokens that only Auth0 can read. Enter the " +
			"identifier of your API in Auth0.",
	}
	m.Edit.Domains = &ui.Value{Text: "example.com\nsubsidiary.of-a-company-with-a-long-name.example.org"}
	return m
}
