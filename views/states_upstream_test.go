package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

func upstreamHeaders() projects.UpstreamHeaders {
	const action = "/projects/shop/environments/env_1/upstream-headers"
	return projects.UpstreamHeaders{
		Page:    in("Upstream headers", action, "Shop", "Upstream headers"),
		Title:   "1.0.0/prod",
		Target:  "https://api.example.com/v1",
		BackURL: "/projects/shop#ver_1",
		Rows: []projects.UpstreamHeaderRow{
			{Name: "Authorization", Since: "4 Mar 2026, 05:06 UTC", RemoveURL: action + "/Authorization"},
			{
				Name:      "X-Upstream-Token-Of-The-Billing-Service-In-Production",
				Since:     "4 Mar 2026, 05:06 UTC",
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
	m.Set.Error = "An environment has at most 20 headers."
	m.Set.Name = ui.Value{
		Text:  "Host",
		Error: "Choose another name, such as X-Upstream-Token or Authorization.",
	}
	m.Set.ValueError = "Use 1 to 4096 printable ASCII characters without a space at either end."
	return m
}

func upstreamHeaderRemoval() projects.UpstreamHeaderRemoval {
	const list = "/projects/shop/environments/env_1/upstream-headers"
	return projects.UpstreamHeaderRemoval{
		Page: in("Remove Authorization", list+"/Authorization", "Shop", "Upstream headers", "Authorization"),
		Name: "X-Upstream-Token-Of-The-Billing-Service-In-Production",
		Facts: []ui.Fact{
			{Label: "Environment", Value: "1.0.0/prod", Mono: true},
			{Label: "Upstream", Value: "https://api.example.com/v1", Mono: true},
			{Label: "Value set", Value: "4 Mar 2026, 05:06 UTC"},
		},
		Confirm: ui.Confirmation{
			ID:     "header-remove",
			Action: list + "/Authorization/remove",
			Button: "Remove header",
			Text: "Send calls without this header from now on. An upstream that compares it refuses them. The value " +
				"cannot be read back.",
			Error: "Tick the box to remove the header.",
		},
		BackURL: list,
	}
}
