package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

// transformStates are the pages of a version's transforms.
func transformStates() []state {
	return []state{
		{"transforms", projects.TransformsPage(transformsOfShop())},
		{"transforms-empty", projects.TransformsPage(transformsEmpty())},
		{"transforms-wrong", projects.TransformsPage(transformsWrong())},
		{"transforms-viewer", projects.TransformsPage(transformsViewer())},
	}
}

func transformsOfShop() projects.Transforms {
	const path = "/projects/shop/versions/ver_1/transforms"
	return projects.Transforms{
		Page:    in("Transforms for 1.0.0", path, "Shop", "Transforms for 1.0.0"),
		Version: "1.0.0",
		Rows: []projects.TransformRow{
			{Direction: "request", Operation: "remove", Header: "Cookie"},
			{Direction: "query", Operation: "rename", Header: "q", Value: "query"},
			{Direction: "request", Operation: "add", Header: "X-Source", Value: "shop"},
			{Direction: "request-body", Operation: "add", Header: "source", Value: "shop"},
			{Direction: "response-body", Operation: "replace", Header: "version", Value: "2", Type: "number"},
			{
				Direction: "response",
				Operation: "add",
				Header:    "Content-Security-Policy",
				Value:     "default-src 'none'; frame-ancestors https://a-long-name-of-a-customer.example.com",
			},
		},
		Form: &projects.TransformsForm{
			Action:   path,
			Revision: "41",
			Lines:    ui.Value{Text: "request remove Cookie\nrequest add X-Source: shop"},
		},
	}
}

func transformsEmpty() projects.Transforms {
	m := transformsOfShop()
	m.Rows, m.Form.Lines = nil, ui.Value{}
	return m
}

func transformsWrong() projects.Transforms {
	m := transformsOfShop()
	m.Form.Lines = ui.Value{Text: "request add X-Source", Error: "Line 1: Use a header and a value separated by a " +
		"colon, such as X-Source:value."}
	return m
}

func transformsViewer() projects.Transforms {
	m := transformsOfShop()
	m.Form = nil
	return m
}
