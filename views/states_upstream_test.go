package views_test

import (
	"strings"

	"postern/views/projects"
	"postern/views/ui"
)

func upstreamHeaders() projects.UpstreamHeaders {
	const action = "/projects/shop/versions/ver_1/environments/env_1/upstream-headers"
	return projects.UpstreamHeaders{
		Page:    in("Upstream headers", action, "Shop", "Upstream headers"),
		Title:   "1.0.0/prod",
		Target:  "https://api.example.com/v1",
		BackURL: "/projects/shop#ver_1",
		Rows: []projects.UpstreamHeaderRow{
			{Name: "Authorization", Since: on("4 Mar 2026"), RemoveURL: action + "/Authorization"},
			{
				Name:      "X-Upstream-Token-Of-The-Billing-Service-In-Production",
				Since:     on("4 Mar 2026"),
				RemoveURL: action + "/X-Upstream-Token-Of-The-Billing-Service-In-Production",
			},
		},
		Set: &projects.UpstreamHeaderForm{
			Action: action,
		},
	}
}

func upstreamHeadersViewer() projects.UpstreamHeaders {
	m := upstreamHeaders()
	m.Set = nil
	for i := range m.Rows {
		m.Rows[i].RemoveURL = ""
	}
	return m
}

func upstreamHeadersEmpty() projects.UpstreamHeaders {
	m := upstreamHeaders()
	m.Rows = nil
	return m
}

func upstreamHeadersWrong() projects.UpstreamHeaders {
	m := upstreamHeaders()
	m.Set.Error = "An environment can have at most 20 upstream headers. Remove one first."
	m.Set.Name = ui.Value{
		Text:  "Host",
		Error: "Use a name such as X-Upstream-Token or Authorization, of at most 128 letters, digits or hyphens.",
	}
	m.Set.ValueError = "Use 1 to 4,096 printable ASCII characters. Don't begin or end with a space."
	return m
}

func upstreamHeaderRemoval() projects.UpstreamHeaderRemoval {
	const list = "/projects/shop/versions/ver_1/environments/env_1/upstream-headers"
	return projects.UpstreamHeaderRemoval{
		Page: in("Remove Authorization", list+"/Authorization", "Shop", "Upstream headers", "Authorization"),
		Name: "X-Upstream-Token-Of-The-Billing-Service-In-Production",
		Facts: []ui.Fact{
			{Label: "Environment", Value: "1.0.0/prod", Mono: true},
			{Label: "Upstream", Value: "https://api.example.com/v1", Mono: true},
			{Label: "Value last set", Value: "4 Mar 2026, 05:06 UTC"},
		},
		Confirm: ui.Confirmation{
			ID:     "header-remove",
			Action: list + "/Authorization/remove",
			Verb:   "Remove",
			Kind:   "header",
			Impact: []string{
				"An upstream that checks the header will refuse calls without it.",
			},
			Error: "Check the box to remove the header.",
		},
		BackURL: list,
	}
}

func targetCheck() projects.TargetCheck {
	step := func(name, outcome string, tone ui.Tone, detail string) projects.ExplainedStep {
		return projects.ExplainedStep{Name: name, Outcome: ui.Badge{Tone: tone, Text: outcome}, Detail: detail}
	}
	return projects.TargetCheck{
		Page:   in("Target check for prod", "/projects/shop", "Shop", "Target check for prod"),
		Title:  "1.0.0/prod",
		Target: "https://api.example.com/v1",
		Action: "/projects/shop/versions/ver_1/environments/env_1/check",
		Report: projects.Diagnosis{
			ID:      "check-report",
			Title:   "https://api.example.com/v1",
			Outcome: ui.Badge{Tone: ui.Warn, Text: "warning"},
			Steps: []projects.ExplainedStep{
				step("Connection", "passed", ui.Good, "Connected to a public address in 12 ms."),
				step("TLS", "warning", ui.Warn, "TLS 1.3; the certificate is valid until 2026-12-01, for another "+
					"6 days. Renew it."),
				step("Credentials", "skipped", ui.Cold, "The environment has no upstream credentials, so the "+
					"upstream can't tell this project from other callers."),
				step("Response", "passed", ui.Good, "HEAD /v1/ returned 404. The first byte came after 31 ms. The "+
					"upstream can be reached."),
			},
		},
		Command: "postern upstreams check shop 1.0.0 prod",
		Offer: &projects.CAOffer{
			Action: "/projects/shop/versions/ver_1/environments/env_1/tls",
			PEM:    "-----BEGIN CERTIFICATE-----",
			Facts: []ui.Fact{
				{Label: "Subject", Value: "CN=Example internal CA"},
				{Label: "SHA-256", Value: strings.Repeat("0a", 32), Mono: true},
			},
		},
		BackURL: "/projects/shop#ver_1",
	}
}

func targetCheckFailed() projects.TargetCheck {
	m := targetCheck()
	m.Report = projects.Diagnosis{ID: "check-report", Problem: "You can run at most 20 tests per minute. Try again " +
		"in 12 seconds."}
	return m
}

// accessTokens has issuers in every state of a row, and an introspection endpoint that was tested.
func accessTokens() projects.Configure {
	m := configureAt("versions/ver_1/access", "Access")
	m.Versions = m.Versions[:1]
	at := &m.Versions[0].Access
	at.Methods = []string{"api_key", "jwt", "opaque"}
	at.KeyPlaces = []projects.KeyPlaceRow{
		{
			ID: "ver_1-key-in-0", Kind: "header", Name: ui.Value{Text: "Authorization"},
			Prefix: ui.Value{Text: "Bearer"}, Optional: true,
		},
		{N: 1, ID: "ver_1-key-in-1", Kind: "query", Name: ui.Value{Text: "api key", Error: "Use 1 to 64 letters."}},
		{N: 2, ID: "ver_1-key-in-2", Kind: "websocket_protocol", Error: "This place is listed twice. Remove one."},
	}
	badge := func(tone ui.Tone, text string) ui.Badge { return ui.Badge{Tone: tone, Text: text} }
	at.Issuers = []projects.IssuerRow{
		{
			ID:       "ver_1-issuer-0",
			Issuer:   ui.Value{Text: "https://accounts.example.com"},
			Audience: ui.Value{Text: "https://api.example.com"},
			Report: &projects.Diagnosis{
				ID:      "ver_1-issuer-0-report",
				Title:   "https://accounts.example.com",
				Outcome: badge(ui.Bad, "failed"),
				Steps: []projects.ExplainedStep{
					{
						Name:    "Discovery",
						Outcome: badge(ui.Good, "passed"),
						Detail:  "The document names this issuer and the keys at https://accounts.example.com/keys.",
					},
					{
						Name:    "Keys",
						Outcome: badge(ui.Good, "passed"),
						Detail:  "2 of 3 keys can verify tokens. Algorithms: RS256, ES256.",
					},
					{
						Name:    "Last fetch",
						Outcome: badge(ui.Cold, "skipped"),
						Detail:  "The gateway hasn't needed the keys yet. It fetches them on the first call.",
					},
					{Name: "Token", Outcome: badge(ui.Bad, "failed"), Detail: "Its aud is \"blog\", not \"shop\"."},
					{
						Name:    "Decision",
						Outcome: badge(ui.Bad, "failed"),
						Detail:  "The gateway would return 401 invalid_token.",
					},
				},
				Facts: []ui.Fact{
					{Label: "key-2026-01", Value: "RS256, RSA 2048"},
					{Label: "key-2026-02", Value: "ES256, EC P-256"},
				},
			},
		},
		{N: 1, ID: "ver_1-issuer-1", Issuer: ui.Value{Text: "https://old.example.com"}, Removed: true},
		{
			N:  2,
			ID: "ver_1-issuer-2",
			Issuer: ui.Value{Text: "http://plain.example", Error: "Use an https URL, such as " +
				"https://accounts.example.com. http is allowed only on this machine."},
			Audience: ui.Value{Error: "Enter the audience of the issuer's tokens for this API."},
			Tenant:   ui.Value{Text: "acme"},
			Error:    "This issuer and audience pair is listed twice. Remove one.",
		},
	}
	at.Introspection = projects.Introspection{
		Endpoint:  ui.Value{Text: "https://accounts.example.com/introspect"},
		ClientID:  ui.Value{Text: "my-api"},
		InForm:    true,
		HasSecret: true,
		Report: &projects.Diagnosis{
			ID:      "introspection-report",
			Problem: "You can run at most 20 tests per minute. Try again in 12 seconds.",
		},
	}
	return m
}
