package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

// versionPlace is the page of a version that is called, after a removal without a tick.
func versionPlace() projects.Place {
	return projects.Place{
		Page:    in("Version 2.1.0", "/projects/shop/versions/ver_1", "Storefront API", "Version 2.1.0"),
		Heading: "Version 2.1.0",
		Kind:    "version",
		Facts:   []ui.Fact{{Label: "Environments", Value: "dev, prod"}},
		Rename: &projects.RenameForm{
			Action:   "/projects/shop/versions/ver_1",
			Revision: "41",
			Name:     ui.Value{Text: "2.1.0"},
			Hint:     "Renaming a version immediately changes the gateway URLs of all environments in it.",
		},
		Removal: projects.Removal{
			Confirm: &ui.Confirmation{
				ID:     "place-confirm",
				Action: "/projects/shop/versions/ver_1/delete",
				Verb:   "Remove",
				Kind:   "version",
				Name:   "1.0.0",
				Type:   "1.0.0",
				Impact: []string{"This revokes 3 API keys that can't be used anywhere else."},
				Typed:  ui.Value{Text: "1.0", Error: "Type the version's name, 1.0.0, to confirm."},
			},
			Since: "14:00 UTC",
			Total: "12,904 calls",
			Callers: []projects.CallerRow{
				{Owner: "billing-service", Calls: "9,210"},
				{Owner: "usr_06f3h0cyj2vahsccr16f64dn1a (https://accounts.example.com)", Calls: "3,120"},
				{Calls: "574"},
			},
			More: "And 12 more owners.",
		},
		BackURL: "/projects/shop#ver_1",
	}
}

func environmentHealth() []projects.TargetHealth {
	return []projects.TargetHealth{
		{
			URL: "https://a.storefront.example/base", Weight: "3", Health: ui.Badge{Tone: ui.Good, Text: "healthy"},
			Since: ago(1),
		},
		{
			URL: "https://b-with-a-long-name.internal.storefront.example:8443/base", Weight: "1",
			Health: ui.Badge{Tone: ui.Bad, Text: "unhealthy"}, Since: ago(0),
			Detail: "On 1 of 2 gateways. Last problem: connection refused",
		},
		{URL: "https://c.storefront.example/base", Weight: "0", Health: ui.Badge{Text: "not checked"}},
	}
}

// environmentTargets is the form for targets, refused.
func environmentTargets() *projects.Targets {
	return &projects.Targets{
		Open:   true,
		Action: "/projects/shop/versions/ver_2/environments/env_3/targets",
		Rows: []projects.TargetRow{
			{
				URL: ui.Value{Text: "https://a.storefront.example/base"}, Weight: ui.Value{
					Text: "lots", Error: "Use 0 to 65,535. The default is 1.",
				},
			},
			{
				N: 1, Weight: ui.Value{Text: "1"}, URL: ui.Value{
					Text:  "http://b.storefront.example/base",
					Error: "All targets of an environment must begin with https://.",
				},
			},
		},
		Balance: ui.Field{ID: "balance", Name: "balance", Label: "Load balancing"},
		Options: []ui.Option{{Value: "hash=header:", Title: "By header (hash)", Chosen: true}},
		Header: ui.Field{
			ID: "balance_header", Name: "balance_header", Label: "Header", Mono: true, Conditional: true,
			Value: ui.Value{Text: "a b", Error: "Use the name of a header, such as X-Session."},
		},
	}
}

// environmentPlace is the page of an environment that cannot be removed.
func environmentPlace() projects.Place {
	return projects.Place{
		Page:    in("Environment prod", "/projects/shop/versions/ver_2/environments/env_3", "Storefront API"),
		Heading: "Environment prod",
		Kind:    "environment",
		Facts: []ui.Fact{
			{Label: "Version", Value: "1.0.0"},
			{Label: "Gateway URL", Value: "http://localhost:8090/shop/1.0.0/prod", Mono: true},
			{Label: "Checks", Value: "/healthz every 10,000 ms, timeout 2,000 ms, statuses 200-399, unhealthy after " +
				"3 failures, healthy after 2 successes"},
		},
		Health:  environmentHealth(),
		Targets: environmentTargets(),
		Checks: &projects.UpstreamNumbers{
			ID: "checks", Title: "Checks", Verb: "Save checks", Open: true,
			Action: "/projects/shop/versions/ver_2/environments/env_3/checks",
			Intro:  "To use the default, leave a field empty.",
			Fields: []ui.Field{
				{
					ID: "path", Name: "path", Label: "Path", Mono: true,
					Value: ui.Value{Text: "healthz", Error: "Start the path with a slash, such as /healthz."},
				},
				{ID: "healthy", Name: "healthy", Label: "Successes", Conditional: true, Value: ui.Value{Text: "2"}},
			},
		},
		Rename: &projects.RenameForm{
			Action: "/projects/shop/versions/ver_2/environments/env_3",
			Name: ui.Value{
				Text: "Prod!",
				Error: "Use 2 to 40 lowercase letters, digits or hyphens. Start with a letter and don't end with a " +
					"hyphen.",
			},
			Hint: "Renaming an environment immediately changes its gateway URL. API keys limited to the environment " +
				"remain valid.",
		},
		Timeouts: &projects.Timeouts{
			Open:   true,
			Action: "/projects/shop/versions/ver_2/environments/env_3/timeouts",
			Fields: []ui.Field{{
				ID: "connect_ms", Name: "connect_ms", Label: "Connect (ms)", Numeric: true, Conditional: true,
				Value: ui.Value{Text: "0", Error: "Use 1 to 3,600,000 milliseconds. The default is 10,000."},
				Hint: "How long connecting to the upstream can take. The same limit applies separately to the TLS " +
					"handshake. " +
					"Default: 10,000.",
			}},
		},
		TLS: &projects.UpstreamTLS{
			Open:       true,
			Action:     "/projects/shop/versions/ver_2/environments/env_3/tls",
			CA:         ui.Value{Error: "The text isn't a list of certificates."},
			System:     true,
			ServerName: ui.Value{Text: "api.internal"},
			Facts:      []ui.Fact{{Label: "Certificate authority", Value: "CN=Example internal CA, until 2036-01-31"}},
		},
		Host: &projects.HostHeader{
			Open:   true,
			Action: "/projects/shop/versions/ver_2/environments/env_3/host-header",
			Value:  ui.Value{Text: "http://x", Error: "Use target, caller or a host name, such as api.example.com."},
		},
		Removal: projects.Removal{
			Since: "14:00 UTC",
			Last:  "This is the only environment in version 1.0.0, so it can't be removed. Remove the version instead.",
		},
		BackURL: "/projects/shop#ver_2",
	}
}

// configureVersions is the page of settings with the forms that add a version and an
// environment, refused.
func configureVersions() projects.Configure {
	m := configure()
	m.AddVersion = &projects.VersionForm{
		Open:   true,
		Action: "/projects/shop/versions",
		Name:   ui.Value{Text: "2.1.0", Error: "This project already has a version \"2.1.0\". Choose another name."},
		CopyFrom: []ui.Option{
			{Value: "1.0.0", Title: "1.0.0"},
			{Value: "2.1.0", Title: "2.1.0", Chosen: true},
		},
	}
	for i := range m.Versions {
		version := &m.Versions[i]
		version.ManageURL = "/projects/shop/versions/" + version.ID
		version.AddEnvironment = &projects.EnvironmentForm{
			Open:   i == 0,
			ID:     version.ID,
			Action: "/projects/shop/versions/" + version.ID + "/environments",
		}
		for j := range version.Environments {
			version.Environments[j].ManageURL = version.ManageURL + "/environments/" + version.Environments[j].ID
		}
	}
	return m
}
