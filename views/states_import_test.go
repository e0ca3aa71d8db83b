package views_test

import (
	"strings"

	"postern/views/projects"
	"postern/views/ui"
)

func importEmpty() projects.Import {
	return projects.Import{Page: in("Import a project", "/imports", "Projects", "Import"), Team: "Acme"}
}

func importWrong() projects.Import {
	m := importEmpty()
	m.Error = "MANIFEST.json: its SHA-256 doesn't match the one in SHA256SUMS"
	return m
}

func importViewer() projects.Import {
	m := importEmpty()
	m.Denied = true
	return m
}

func importFound() projects.Import {
	m := importEmpty()
	m.Name = ui.Value{Text: "shop-copy"}
	m.Found = &projects.ImportFound{
		Name:   "shop-copy",
		SHA256: strings.Repeat("0123456789abcdef", 4),
		Made: []ui.Fact{
			{Label: "Versions", Value: "2"}, {Label: "Environments", Value: "4"}, {Label: "API keys", Value: "48,000"},
			{Label: "Users", Value: "1,204"}, {Label: "Object owners", Value: "310,000"},
		},
		LeftOut: []projects.ImportItem{
			{Title: "Upstream secret", Subject: "Authorization of 1.0.0/prod",
				Detail: "The zip doesn't contain the value of the header. Set the header for the environment."},
			{Title: "Custom domain", Subject: "a-name-that-is-as-long-as-they-can-be.api.example.com",
				Detail: "Add the domain again and verify it."},
		},
	}
	return m
}
