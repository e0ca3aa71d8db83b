package views_test

import (
	"postern/views/device"
	"postern/views/tokens"
	"postern/views/ui"
)

func tokenStates() []state {
	return []state{
		{"tokens", tokens.ListPage(tokenList())},
		{"tokens-empty", tokens.ListPage(tokens.List{
			Page:   in("Access tokens", "/settings/tokens", "Access tokens"),
			Create: tokens.Form{Scopes: scopes()},
		})},
		{"tokens-wrong", tokens.ListPage(tokensWrong())},
		{"token-shown", tokens.ShownPage(tokens.Shown{
			Page:    in("Token created", "/settings/tokens", "Access tokens", "New"),
			Heading: "Token created",
			Token:   "postern_pat_Zx81mB0aQw7Lr2Yc93TkVf5NhDsE6uPjR0d9Qx",
			Facts:   []ui.Fact{{Label: "Name", Value: "deploy pipeline"}, {Label: "Scopes", Value: "read, export"}},
		})},
		{"device", device.EnterPage(device.Enter{Page: in("Sign in to the Postern CLI", "/device")})},
		{"device-wrong", device.EnterPage(device.Enter{
			Page: in("Sign in to the Postern CLI", "/device"),
			Code: ui.Value{Text: "BCDF-GHJK", Error: "No program is waiting with this code. Check the code. It " +
				"expires after ten minutes."},
		})},
		{"device-confirm", device.ConfirmPage(device.Confirm{
			Page: in("Sign in to the Postern CLI", "/device"),
			Code: "BCDF-GHJK",
			Facts: []ui.Fact{
				{Label: "Machine", Value: "ana@laptop"},
				{Label: "Address", Value: "2001:db8::7", Mono: true},
				{Label: "Requested", Value: "2030-01-31 12:00 UTC"},
				{Label: "Account", Value: "ana@example.com"},
				{Label: "Scopes", Value: "read, write, keys, export, admin"},
				{Label: "Valid for", Value: "90 days, or until you revoke it"},
			},
		})},
		{"device-approved", device.DonePage(device.Done{
			Page:     in("Sign in to the Postern CLI", "/device"),
			Machine:  "ana@laptop",
			Approved: true,
		})},
		{"device-denied", device.DonePage(device.Done{
			Page:    in("Sign in to the Postern CLI", "/device"),
			Machine: "ana@laptop",
		})},
	}
}

func scopes() []ui.Option {
	return []ui.Option{
		{
			Value: "read", Title: "read", Text: "See projects, keys, usage, requests, login settings and teams.",
			Chosen: true,
		},
		{Value: "write", Title: "write", Text: "Create, change and claim projects, and change hosted login."},
		{Value: "keys", Title: "keys", Text: "Create, rotate, freeze and revoke API keys."},
		{Value: "export", Title: "export", Text: "Export projects and download the zips."},
		{Value: "admin", Title: "admin", Text: "Manage teams, members, access tokens and webhooks, and read the " +
			"audit log."},
	}
}

func tokenList() tokens.List {
	return tokens.List{
		Page:   in("Access tokens", "/settings/tokens", "Access tokens"),
		Create: tokens.Form{Scopes: scopes()},
		List:   listed("/settings/tokens", "tokens", "created", "name", "expires", "last_used"),
		Rows: []tokens.Row{
			{
				Name:     "ana@laptop",
				Display:  "…9Qxa",
				Kind:     "command line",
				Scopes:   "read, write, keys, export, admin",
				Created:  on("31 Jan 2030"),
				Expires:  on("1 May 2030"),
				LastUsed: on("1 Feb 2030"),
				UsedFrom: "2001:db8:85a3::8a2e:370:7334",
				Revoke:   "/settings/tokens/tok_2/revoke",
			},
			{
				Name:    "deploy pipeline of the shop, production only",
				Display: "…0aQw",
				Kind:    "dashboard",
				Scopes:  "export",
				Created: on("30 Jan 2030"),
				Expires: on("30 Jan 2031"),
				Revoke:  "/settings/tokens/tok_1/revoke",
			},
		},
	}
}

func tokensWrong() tokens.List {
	m := tokenList()
	m.Create = tokens.Form{
		Open:        true,
		Scopes:      scopes(),
		ScopesError: "Choose at least one of the scopes read, write, keys, export, users and admin.",
		Name:        ui.Value{Error: "Enter a name of 1 to 80 characters that describes what the token is used for."},
		Expires:     ui.Value{Text: "2099-12-31", Error: "A token can't be valid for more than a year."},
	}
	return m
}
