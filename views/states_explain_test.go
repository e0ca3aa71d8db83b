package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

// explainStates are the pages that explain a call.
func explainStates() []state {
	return []state{
		{"explain", projects.ExplainPage(explainRefused())},
		{"explain-allowed", projects.ExplainPage(explainAllowed())},
		{"explain-empty", projects.ExplainPage(explainEmpty())},
		{"explain-wrong", projects.ExplainPage(explainWrong())},
	}
}

func explainEmpty() projects.Explain {
	return projects.Explain{
		Page:         in("Explain a call", "/projects/shop/explain", "Shop", "Explain a call"),
		Action:       "/projects/shop/explain",
		Versions:     []ui.Option{{Value: "1.0.0", Title: "1.0.0", Chosen: true}},
		Environments: []ui.Option{{Value: "prod", Title: "prod"}, {Value: "sandbox", Title: "sandbox"}},
		Methods:      []ui.Option{{Value: "GET", Title: "GET"}, {Value: "DELETE", Title: "DELETE", Chosen: true}},
		BackURL:      "/projects/shop/requests",
	}
}

func explainRefused() projects.Explain {
	m := explainEmpty()
	m.Path = ui.Value{Text: "/customers/4711/branches/12/invoices/archived-and-closed/2026-11"}
	m.Key = ui.Value{Text: "key_0199f0c2a7b47c6f9d1e2a3b4c5d6e7f"}
	m.Answer = &projects.Explained{
		Call:    "DELETE " + m.Path.Text,
		Verdict: ui.Badge{Tone: ui.Bad, Text: "403 insufficient_scope"},
		Decided: "The rule DELETE /customers/{customer}/branches/{branch}/invoices/archived-and-closed/{invoice} " +
			"refuses the call.",
		Exported: ui.Badge{Tone: ui.Bad, Text: "403 insufficient_scope"},
		Steps: []projects.ExplainedStep{
			{
				Name:    "Route",
				Outcome: ui.Badge{Tone: ui.Good, Text: "passed"},
				Detail:  "Environment prod of version 1.0.0, path " + m.Path.Text + ".",
			},
			{
				Name:    "Authentication",
				Outcome: ui.Badge{Tone: ui.Good, Text: "passed"},
				Detail:  "The call uses the key " + m.Key.Text + " for ana, which has the scopes read.",
			},
			{
				Name:    "Rules",
				Outcome: ui.Badge{Tone: ui.Bad, Text: "refused"},
				Detail: "This route requires a scope that the caller doesn't have. The missing scope is " +
					"invoices:write.",
			},
		},
		Command: "postern explain shop DELETE " + m.Path.Text + " --key " + m.Key.Text,
	}
	return m
}

func explainAllowed() projects.Explain {
	m := explainEmpty()
	m.Path, m.User = ui.Value{Text: "/boss"}, ui.Value{Text: "usr_ana"}
	m.Answer = &projects.Explained{
		Call:     "GET /boss",
		Verdict:  ui.Badge{Tone: ui.Good, Text: "forwarded"},
		Decided:  "The rule GET /boss allows the call.",
		Exported: ui.Badge{Tone: ui.Bad, Text: "403 not_in_group"},
		Differs:  true,
		Steps: []projects.ExplainedStep{
			{
				Name:    "Rules",
				Outcome: ui.Badge{Tone: ui.Good, Text: "passed"},
				Detail:  "The rule GET /boss allows the call.",
			},
			{
				Name:    "Shadow rules",
				Outcome: ui.Badge{Tone: ui.Warn, Text: "would refuse"},
				Detail:  "In shadow mode, GET /boss would refuse the call with insufficient_scope.",
			},
			{
				Name:    "Limits",
				Outcome: ui.Badge{Text: "skipped"},
				Detail:  "This explanation doesn't check limits or count the call.",
			},
		},
		Command: "postern explain shop GET /boss --user usr_ana",
	}
	return m
}

func explainWrong() projects.Explain {
	m := explainEmpty()
	m.Path = ui.Value{Text: "orders", Error: "Start the path with a slash, as in /orders/42."}
	m.Key = ui.Value{Text: "key_other", Error: "Use the ID of one of the project's keys."}
	return m
}
