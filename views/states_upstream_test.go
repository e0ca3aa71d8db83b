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
			{Name: "Authorization", Since: "4 Mar 2026, 05:06 UTC", RemoveAction: action + "/Authorization/remove"},
			{
				Name:         "X-Upstream-Token-Of-The-Billing-Service-In-Production",
				Since:        "4 Mar 2026, 05:06 UTC",
				RemoveAction: action + "/X-Upstream-Token-Of-The-Billing-Service-In-Production/remove",
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
		m.Rows[i].RemoveAction = ""
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
