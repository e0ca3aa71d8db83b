package docs

// Chapter is a group of pages.
type Chapter struct {
	Title string
	Slugs []string
}

// Contents are all pages, in reading order. A test compares them with the files.
var Contents = []Chapter{
	{"Start", []string{"quick-start", "cli", "projects", "versions", "openapi", "unclaimed"}},
	{"Moving in", []string{"moving-in"}},
	{"Calls", []string{
		"limits", "key-places", "rules", "ownership", "cors", "transforms", "upstreams", "usage", "domains",
	}},
	{"Login", []string{
		"login", "apps", "tokens", "sessions", "group-mappings", "scim-entra", "api-scopes", "machines",
	}},
	{"Leaving", []string{"leaving", "portability", "openfga", "import"}},
	{"Team", []string{"accounts", "audit", "webhooks", "api", "lists", "files"}},
	{"Operation", []string{
		"install", "self-hosting", "backup", "upgrade", "monitoring", "replicas", "scale", "faults",
		"configuration", "network", "database", "storage", "versioning",
	}},
}

func slugs() []string {
	var all []string
	for _, c := range Contents {
		all = append(all, c.Slugs...)
	}
	return all
}
