package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

// domainStates are the pages of custom host names.
func domainStates() []state {
	return []state{
		{"domains", projects.DomainsPage(domains())},
		{"domains-empty", projects.DomainsPage(domainsEmpty())},
		{"domains-wrong", projects.DomainsPage(domainsWrong())},
		{"domains-viewer", projects.DomainsPage(domainsViewer())},
		{"domain", projects.DomainPage(domain())},
		{"domain-missing", projects.DomainPage(domainMissing())},
		{"domain-viewer", projects.DomainPage(domainViewer())},
	}
}

const longHost = "the-api-of-the-northern-branches.of-a-company-with-a-very-long-name.example.com"

func domains() projects.Domains {
	const path = "/projects/shop/domains"
	head := configure().Head
	head.Frozen = ""
	return projects.Domains{
		Page: in("Custom domains", path, "Shop", "Custom domains"),
		Head: head,
		List: narrowed(listed(path, "domains", "host")),
		Add: &projects.DomainAdd{
			Action: path,
			Calls:  calls("domain", ""),
			Environments: []ui.Option{
				{Value: "env_1", Title: "1.0.0/dev"},
				{Value: "env_2", Title: "1.0.0/prod", Chosen: true},
			},
		},
		Rows: []projects.DomainRow{
			{
				URL:   path + "/dom_1",
				Host:  "api.example.com",
				Place: "1.0.0/prod",
				State: ui.Badge{Tone: ui.Good, Text: "verified"},
			},
			{
				URL:   path + "/dom_2",
				Host:  longHost + "/a-path-prefix-that-is-as-long/as-they-can-be/in-this-table",
				Calls: "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT",
				Place: "2.0.0-beta.1/staging-of-the-north",
				State: ui.Badge{Tone: ui.Warn, Text: "record missing"},
			},
			{
				URL:   path + "/dom_3",
				Host:  "dev.example.com",
				Place: "1.0.0/dev",
				State: ui.Badge{Text: "pending"},
			},
		},
	}
}

// calls are the fields of which calls a domain takes.
func calls(id, prefix string) projects.DomainCalls {
	m := projects.DomainCalls{ID: id, PathPrefix: ui.Value{Text: prefix}, Strip: true, Methods: ui.Group{
		ID: id + "-methods", Name: "methods", Legend: "Methods", Hint: "Select none to match every method.",
	}}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		m.Methods.Options = append(m.Methods.Options, ui.Option{Value: method, Title: method, Chosen: method == "GET"})
	}
	return m
}

func domainsEmpty() projects.Domains {
	m := domains()
	m.Rows, m.List = nil, ui.List{}
	return m
}

func domainsWrong() projects.Domains {
	m := domainsEmpty()
	m.Add.Open, m.Add.Error = true, "A project can have at most 50 custom domains."
	m.Add.Host = ui.Value{Text: "*.example.com", Error: "You can't use wildcards. Add each host name separately."}
	return m
}

func domainsViewer() projects.Domains {
	m := domainsEmpty()
	m.Add, m.Note = nil, "You're a viewer on this team. Members and owners can add domains."
	return m
}

// domain is a host name that waits for its TXT record.
func domain() projects.Domain {
	const path = "/projects/shop/domains/dom_3"
	return projects.Domain{
		Page:        in("dev.example.com", path, "Shop", "Custom domains", "dev.example.com"),
		Host:        "dev.example.com",
		State:       ui.Badge{Text: "pending"},
		RecordName:  "_postern-challenge.dev.example.com",
		RecordValue: "postern-verification=9f86d081884c7d659a2feaa0c55ad015",
		Problem: "There is no TXT record _postern-challenge.dev.example.com. Add it at your DNS provider. A new " +
			"record can take a few minutes to become visible.",
		BackURL: "/projects/shop/domains",
		Facts: []ui.Fact{
			{Label: "Environment", Value: "1.0.0/dev", Mono: true},
			{Label: "Verified", Value: "not yet"},
			{Label: "Last checked", Value: "20 Nov 2026, 13:41 UTC"},
		},
		Manage: &projects.DomainManage{
			VerifyAction: path + "/verify",
			VerifyText:   "Verify",
			MoveAction:   path,
			Revision:     "41",
			Calls:        calls("domain-move", "/orders"),
			Environments: domains().Add.Environments,
			Remove: ui.Confirmation{
				ID:     "domain-remove",
				Action: path + "/remove",
				Impact: []string{"Calls to this host name will get 404."},
				Verb:   "Remove",
				Kind:   "domain",
			},
		},
	}
}

// domainMissing is a verified host name whose record has gone, after a removal without a
// tick.
func domainMissing() projects.Domain {
	m := domain()
	m.Host, m.State = longHost, ui.Badge{Tone: ui.Warn, Text: "record missing"}
	m.RecordName = "_postern-challenge." + longHost
	m.Facts[1].Value = "1 Nov 2026, 09:12 UTC (by TXT record)"
	m.Facts = append(m.Facts, ui.Fact{Label: "Record missing since", Value: "19 Nov 2026, 09:12 UTC"})
	m.Warnings = []string{"CORS is set, but the domain doesn't match OPTIONS, so browsers' preflight requests get " +
		"404. Add OPTIONS to its methods, or create a domain with the same path prefix that includes OPTIONS."}
	m.Manage.Calls.PathPrefix.Error = "Leave out the slash at the end: /orders also matches all paths below it."
	m.Manage.VerifyText = "Check again"
	m.Manage.Error = "The name server didn't respond. Try again in a minute."
	m.Manage.Remove.Error = "Check the box to remove the domain."
	return m
}

func domainViewer() projects.Domain {
	m := domain()
	m.State, m.Problem, m.Manage = ui.Badge{Tone: ui.Good, Text: "verified"}, "", nil
	return m
}
