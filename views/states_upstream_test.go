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
			{Name: "Authorization", Since: "2026-03-04 05:06 UTC", RemoveAction: action + "/Authorization/remove"},
			{Name: "X-Upstream-Token", Since: "2026-03-04 05:06 UTC", RemoveAction: action + "/X-Upstream-Token/remove"},
		},
		Set: &projects.UpstreamHeaderForm{
			Action: action,
			Name: ui.Value{
				Text:  "Host",
				Error: "Choose another name, such as X-Upstream-Token or Authorization.",
			},
			ValueError: "Use 1 to 4096 printable ASCII characters without a space at either end.",
		},
	}
}

func upstreamHeadersViewer() projects.UpstreamHeaders {
	m := upstreamHeaders()
	m.Rows, m.Set = nil, nil
	return m
}
