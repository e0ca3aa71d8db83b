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
	m.Error = "MANIFEST.json differs from its line in SHA256SUMS: the zip is damaged, or was changed."
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
			{Label: "Users", Value: "1,204"}, {Label: "Relations", Value: "310,000"},
		},
		LeftOut: []projects.ImportItem{
			{Subject: "Authorization of 1.0.0/prod", Code: "upstream_secret",
				Detail: "The zip has no secret values. Set the header again before calls reach the upstream."},
			{Subject: "a-name-that-is-as-long-as-they-can-be.api.example.com", Code: "host_name",
				Detail: "Host names are verified by each installation. Add it again."},
		},
	}
	return m
}
