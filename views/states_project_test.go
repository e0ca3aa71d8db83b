package views_test

import (
	"postern/core/contract"
	"postern/views/projects"
	"postern/views/ui"
)

func configure() projects.Configure {
	return projects.Configure{
		Overview: overview(),
		Move: &projects.Move{
			Action: "/projects/shop/move",
			Teams: []ui.Option{
				{Value: "team_2", Title: "Payments"}, {Value: "team_3", Title: "A team with a long name", Chosen: true},
			},
			Error: "The project depends on its team: it is in the product store. Remove it from the product first.",
		},
		Page: in("Shop", "/projects/shop", "Storefront API"),
		Head: projects.Head{
			Name:        "shop",
			DisplayName: "Storefront API",
			Access:      ui.Badge{Tone: ui.Accent, Text: "API keys"},
			HistoryURL:  "/audit?project=shop",
			Frozen: "Taken down by an operator on 12 Nov 2026, 09:30 UTC. All calls get 403. You can still export " +
				"the project. Reason: Phishing, reported by three banks.",
			DeleteURL: "/projects/shop/delete",
		},
		General: projects.General{
			Name:        "shop",
			Action:      "/projects/shop/settings",
			Revision:    "41",
			DisplayName: ui.Value{Text: "Storefront API"},
		},
		Limits: limits(),
		CORS:   cors(),
		Product: projects.Product{
			Action:   "/projects/shop/product",
			Revision: "41",
			Choices:  []ui.Option{{Title: "None"}, {Value: "storefront", Title: "storefront", Chosen: true}},
		},
		Versions:   versions(),
		Keys:       keyList(),
		NewKeyURL:  "/projects/shop/keys?create=true",
		SigningURL: "/projects/shop/call-signing",
	}
}

// configureAt is configure at one of the pages below the project.
func configureAt(page, title string) projects.Configure {
	m := configure()
	m.Page = in(title, "/projects/shop/"+page, "Storefront API", title)
	return m
}

func versions() []projects.Version {
	return []projects.Version{
		{
			ID:   "ver_1",
			Name: "2.1.0",

			AccessURL:  "/projects/shop/versions/ver_1/access",
			ExplainURL: "/projects/shop/explain?version=2.1.0",
			Access: projects.Access{
				Action:   "/projects/shop/versions/2.1.0/access",
				Revision: "41",
				RequestsAuth: contract.RequestsAuth{
					Mode: "authenticate", Methods: []string{"api_key"}, Keyless: "reject",
				},
			},
			Ranges: projects.Ranges{
				Action:   "/projects/shop/versions/2.1.0/addresses",
				Revision: "41",
				Allow:    ui.Value{Text: "203.0.113.0/24\n2001:db8::/32"},
				Deny:     ui.Value{Text: "203.0.113.9/32"},
			},
			Environments: []projects.Environment{
				{
					ID:             "env_1",
					Name:           "dev",
					URL:            "http://localhost:8090/shop/2.1.0/dev",
					Action:         "/projects/shop/versions/ver_1/environments/env_1/target",
					HeadersURL:     "/projects/shop/versions/ver_1/environments/env_1/upstream-headers",
					TimeoutsURL:    "/projects/shop/versions/ver_1/environments/env_1#timeouts",
					TargetsURL:     "/projects/shop/versions/ver_1/environments/env_1",
					CertificateURL: "/projects/shop/versions/ver_1/environments/env_1/client-certificate",
					Revision:       "41",
					Target:         ui.Value{Text: "https://dev.storefront.example/api"},
					Forwards:       "https://dev.storefront.example/api",
				},
				{
					ID:             "env_2",
					Name:           "prod",
					URL:            "http://localhost:8090/shop/2.1.0/prod",
					Action:         "/projects/shop/versions/ver_1/environments/env_2/target",
					HeadersURL:     "/projects/shop/versions/ver_1/environments/env_2/upstream-headers",
					TimeoutsURL:    "/projects/shop/versions/ver_1/environments/env_2#timeouts",
					TargetsURL:     "/projects/shop/versions/ver_1/environments/env_2",
					CertificateURL: "/projects/shop/versions/ver_1/environments/env_2/client-certificate",
					Revision:       "41",
					Target:         ui.Value{Text: "https://api.storefront.example"},
					Forwards:       "https://api.storefront.example",
				},
			},
		},
	}
}

func keyList() projects.Keys {
	return projects.Keys{
		Action:     "/projects/shop/keys",
		BulkAction: "/projects/shop/keys/change",
		TypesURL:   "/projects/shop/key-types",
		SentIn:     "Callers send their key in the X-API-Key header.",
		List:       listed("/projects/shop/keys", "keys", "created", "owner", "last_used"),
		Create:     keyForm(),
		Filter:     keyFilter(),
		Rows: []projects.KeyRow{
			{
				ID:          "key_1",
				URL:         "/projects/shop/keys/key_1",
				Owner:       "billing-service",
				Type:        "full",
				Environment: "prod",
				State:       ui.Badge{Tone: ui.Good, Text: "Active"},
				Created:     on("12 Nov 2026"),
				LastUsed:    on("22 Nov 2026"),
				Display:     "pst_prod_…9dQx",
				Note:        "Valid for every project in storefront",
			},
			{
				ID:          "key_2",
				URL:         "/projects/shop/keys/key_2",
				Owner:       "ana@example.com",
				Type:        "read-only",
				Environment: "all",
				State:       ui.Badge{Tone: ui.Cold, Text: "Frozen"},
				Created:     on("3 Nov 2026"),
				Expires:     on("1 Jan 2027"),
				LastUsed:    on("12 Nov 2026"),
				Display:     "pst_all_…k2Lm",
			},
			{
				ID:          "key_3",
				URL:         "/projects/shop/keys/key_3",
				Owner:       "a partner with a very long name that goes on and on",
				Type:        "full",
				Environment: "dev",
				State:       ui.Badge{Tone: ui.Bad, Text: "Revoked"},
				Created:     on("1 Oct 2026"),
				Display:     "pst_dev_…00aB",
			},
			{
				ID:          "key_4",
				URL:         "/projects/shop/keys/key_4",
				Owner:       "nightly-import",
				Type:        "read-only",
				Environment: "prod",
				State:       ui.Badge{Tone: ui.Warn, Text: "Expired"},
				Created:     on("1 Aug 2026"),
				Expires:     on("1 Nov 2026"),
				LastUsed:    on("31 Oct 2026"),
				Display:     "pst_prod_…Zz9c",
			},
		},
	}
}

func limits() projects.Limits {
	m := projects.Limits{
		Action:   "/projects/shop/limits",
		Revision: "41",
		Presets: []ui.Option{
			{Value: "preset 1", Title: "100 per minute for each key"},
			{Value: "preset 2", Title: "60 per minute for each address"},
		},
	}
	for i, calls := range []string{"100", "1000000", "1e3"} {
		number := string(rune('1' + i))
		m.Rows = append(m.Rows, projects.LimitRow{
			ID:      "limit-" + number,
			Number:  number,
			Calls:   calls,
			Windows: []ui.Option{{Value: "minute", Title: "minute"}, {Value: "day", Title: "day", Chosen: i == 1}},
			Subjects: []ui.Option{
				{Value: "key", Title: "each key"},
				{Value: "ip", Title: "each address, with or without a key", Chosen: i == 1},
			},
		})
	}
	m.Rows[2].Error = "Use a whole number of 1 or more, or leave the field empty."
	return m
}

func keyForm() projects.KeyForm {
	return projects.KeyForm{
		Types: []ui.Option{
			{Value: "full", Title: "full (*)"},
			{Value: "read-only", Title: "read-only (read)", Chosen: true},
		},
		Environments: []ui.Option{
			{Value: "", Title: "All environments", Chosen: true},
			{Value: "dev", Title: "dev"},
			{Value: "prod", Title: "prod"},
		},
		Tenants: []ui.Option{{Value: "default", Title: "default", Chosen: true}, {Value: "acme", Title: "acme"}},
		Product: "storefront",
		Texts:   keyTexts("key"),
		Metadata: ui.Value{
			Text: "{\"plan\": \"gold\",", Error: "Use a JSON object, such as {\"plan\": \"gold\"}.",
		},
		Bounds: keyBounds("type", ""),
	}
}

func keyTexts(id string) []ui.Field {
	return []ui.Field{{ID: id + "-description", Name: "description", Label: "Description", Autocomplete: "off"}}
}

func keyFilter() projects.KeyFilter {
	return projects.KeyFilter{
		Action:       "/projects/shop/keys",
		States:       []ui.Option{{Title: "Any state"}},
		Types:        []ui.Option{{Title: "Any type"}},
		Environments: []ui.Option{{Title: "Any environment"}},
		Tenants:      []ui.Option{{Title: "Any tenant"}, {Value: "acme", Title: "acme"}},
	}
}

func keyBounds(of, minute string) projects.KeyBounds {
	b := projects.KeyBounds{Of: []ui.Option{
		{
			Value: "type", Title: "From the key type", Text: "Currently 10 per second, 1,000 per day.",
			Chosen: of == "type",
		},
		{
			Value: "own", Title: "Custom",
			Text: "Replaces the key type's limits and the project's limits for each key. " +
				"The project's limits for owners, addresses and the entire project still apply.",
			Chosen: of == "own",
		},
		{
			Value: "none", Title: "None",
			Text: "No limits for this key. The project's limits for owners, addresses and " +
				"the entire project still apply.",
			Chosen: of == "none",
		},
	}}
	for _, window := range []string{"second", "minute", "hour", "day", "month", "year"} {
		b.Windows = append(b.Windows, ui.Limit{Window: window, Label: "A " + window})
	}
	b.Windows[1].Value.Text = minute
	return b
}

func keyWrong() projects.Key {
	m := key()
	m.Edit.Open, m.Edit.Bounds = true, keyBounds("own", "0")
	m.Edit.Bounds.Windows[1].Value.Error = "Use a whole number of 1 or more, or leave the field empty."
	m.Edit.Bounds.Allowed = ui.Value{
		Text:  "10.0.0.0/8\nlocalhost",
		Error: "localhost: Use an address range such as 203.0.113.0/24 or 2001:db8::/32, or a single address.",
	}
	return m
}

func configureWrong() projects.Configure {
	m := configure()
	m.General.DisplayName = ui.Value{Text: "", Error: "Use at most 128 characters on one line."}
	access := &m.Versions[0].Access
	access.Keyless, access.FallbackOwner = "owner_fallback", ui.Value{
		Text:  " x",
		Error: "Use 1 to 128 printable ASCII characters. Don't begin or end with a space.",
	}
	access.Wrong = map[string]string{"methods": "The authenticate mode requires at least one method: api_key, jwt " +
		"or opaque."}
	access.Error = "Nothing was saved."
	m.Versions[0].Environments[0].Target = ui.Value{Text: "ftp://x", Error: "It must start with http:// or https://."}
	m.Limits.Rows[0].Error = "Use a whole number of 1 or more, or leave the field empty."
	m.Product.Choice, m.Product.New = "The project's team has no product \"store\". Create it "+
		"first.", ui.Value{Text: "X", Error: "Use 2 to 40 characters."}
	m.Versions[0].Ranges.Allow = ui.Value{Text: "here", Error: "here: Use an address range such as 203.0.113.0/24 " +
		"or 2001:db8::/32, or a single address."}
	m.Versions[0].Ranges.Error = "Nothing was saved."
	m.Keys.Create.Open = true
	m.Keys.Create.Owner = ui.Value{Error: "Enter the owner of the key, such as billing-service."}
	m.Keys.Create.TenantError = "This project doesn't serve the tenant \"acme\". Attach the tenant to " +
		"the project first."
	m.Keys.Create.ProductError = "This project isn't in a product. Add it to one first, or leave this field out."
	m.Keys.Create.Bounds = keyWrong().Edit.Bounds
	m.Keys.Filter.ClearURL = "/projects/shop/keys"
	m.Keys.Create.Expires = ui.Value{Text: "2020-01-01", Error: "Use a time in the future, at most 10 years from now."}
	m.Keys.Rows = nil
	return m
}

func conflict() projects.Conflict {
	return projects.Conflict{
		Page:    in("Conflict", "/projects/shop", "Shop"),
		What:    "Access to version 2.1.0",
		Action:  "/projects/shop/versions/2.1.0/access",
		BackURL: "/projects/shop",
		Rows: []projects.Difference{
			{Label: "Who can call", Theirs: "Passthrough", Yours: "Authenticate"},
			{Label: "Allowed methods", Theirs: "API key", Yours: "API key"},
			{Label: "Fallback owner", Theirs: "none", Yours: "none"},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: "42"},
			{Name: "mode", Value: "authenticate"},
			{Name: "methods", Value: "api_key"},
			{Name: "keyless", Value: "reject"},
		},
	}
}

func key() projects.Key {
	return projects.Key{
		Page:       in("Key", "/projects/shop/keys/key_1", "Shop", "Key"),
		Owner:      "billing-service",
		Display:    "pst_prod_…9dQx",
		State:      ui.Badge{Tone: ui.Good, Text: "Active"},
		BackURL:    "/projects/shop/keys",
		HistoryURL: "/audit?object=key_1",
		Facts: []ui.Fact{
			{Label: "ID", Value: "key_01JCZ8Q4M2N7", Mono: true, Copy: "key-id"},
			{Label: "Type", Value: "full"},
			{Label: "Scopes", Value: "*", Mono: true},
			{Label: "Environment", Value: "prod"},
			{Label: "Created", Value: "12 Nov 2026, 09:30 UTC"},
			{Label: "Expires", Value: "never"},
			{Label: "Last used", Value: "never"},
		},
		Edit: &projects.KeyEdit{
			Action:   "/projects/shop/keys/key_1",
			Revision: "41",
			Texts:    keyTexts("edit"),
			Metadata: ui.Value{Text: "{\n  \"plan\": \"gold\"\n}"},
			Bounds:   keyBounds("own", "60"),
		},
		Rotate: &projects.Rotate{
			Confirm: ui.Confirmation{
				ID:     "rotate-confirm",
				Action: "/projects/shop/keys/key_1/rotate",
				Verb:   "Rotate",
				Kind:   "key",
				Name:   "pstn_abc…wxyz for billing-service",
				Impact: []string{
					"billing-service made calls with it in the last hour.",
					"After the grace period, calls with the old secret will get 401.",
				},
				Undo:     "You can't restore the old secret. The key keeps its scopes and limits.",
				ByButton: true,
			},
			Grace: []ui.Option{
				{Value: "0", Title: "None"},
				{Value: "3600", Title: "1 hour"},
				{Value: "86400", Title: "24 hours", Chosen: true},
				{Value: "604800", Title: "7 days"},
				{Value: "2592000", Title: "30 days"},
			},
		},
		Impact:       "billing-service made calls with it in the last hour.",
		FreezeAction: "/projects/shop/keys/key_1/freeze",
		Revoke: &ui.Confirmation{
			ID:     "revoke-confirm",
			Action: "/projects/shop/keys/key_1/revoke",
			Verb:   "Revoke",
			Kind:   "key",
			Name:   "pstn_abc…wxyz for billing-service",
			Impact: []string{
				"billing-service made calls with it in the last hour.", "Calls with this key will get 401.",
			},
		},
	}
}

func keyFrozen() projects.Key {
	m := key()
	m.State, m.Rotate, m.FreezeAction = ui.Badge{Tone: ui.Cold, Text: "Frozen"}, nil, ""
	m.UnfreezeAction = "/projects/shop/keys/key_1/unfreeze"
	m.Revoke.Error = "Check the box to revoke the key."
	return m
}

func keyRevoked() projects.Key {
	m := key()
	m.State, m.Edit, m.Rotate, m.FreezeAction, m.Revoke = ui.Badge{Tone: ui.Bad, Text: "Revoked"}, nil, nil, "", nil
	return m
}

func shown() projects.Shown {
	return projects.Shown{
		Page:    in("Key created", "/projects/shop", "Shop", "Key"),
		Heading: "Key rotated",
		Text:    "The old secret expires on 21 Nov 2026, 13:41 UTC.",
		Key:     sampleKey,
		Facts: []ui.Fact{
			{Label: "Owner", Value: "billing-service"},
			{Label: "Type", Value: "full"},
			{Label: "Environment", Value: "prod"},
		},
		Curl:    "curl -H 'X-API-Key: " + sampleKey + "' \\\n  http://localhost:8090/shop/2.1.0/prod/",
		BackURL: "/projects/shop/keys",
	}
}

// cors has everything that a project can state, and a mistake.
func cors() ui.CORS {
	methods := []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"}
	return ui.CORS{
		SavedCORS: contract.SavedCORS{
			CORS: contract.CORS{
				Origins:    []string{"https://app.example.com", "http://localhost:3000"},
				AppOrigins: true,
				Methods:    methods,
				Headers:    []string{"Content-Type", "X-API-Key"},
			},
			FromApps: []string{"https://admin.example.com", "https://kiosk.example.com:8443"},
			ETag:     "1",
		},
		Action: "/projects/shop/cors",
		Hint: "Browsers let pages from these origins call this project (CORS). Postern answers preflights before it " +
			"checks credentials. If you don't list any origins, your upstreams handle CORS.",
		Apps:          "project's",
		Overrides:     []ui.Link{{URL: "/tenants/tnt_1", Text: "Acme"}, {URL: "/tenants/tnt_2", Text: "Globex"}},
		MoreOverrides: 3,
		AllMethods:    append([]string{"PATCH"}, methods...),
		Age:           "soon",
		Wrong:         map[string]string{"max_age": "Use 0 to 86,400 seconds, or leave it out."},
	}
}
