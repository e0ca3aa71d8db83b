package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

const mappingsURL = "/projects/shop/login/cli_1/providers/idp_1/group-mappings"

func groupMappings() projects.GroupMappings {
	return projects.GroupMappings{
		Page:     in("Group mappings", mappingsURL, "Shop", "web", "Keycloak"),
		Provider: "Keycloak",
		BackURL:  "/projects/shop/login/cli_1/providers/idp_1",
		Rows: []projects.GroupMappingRow{
			{Rule: `realm_access.roles is "admin"`, Group: "admins", RemoveURL: mappingsURL + "/1f0a"},
			{Rule: `groups starts with "/sales/"`, Group: "sales and partners", RemoveURL: mappingsURL + "/2b1c"},
		},
		Add: &projects.GroupMappingForm{
			Action:  mappingsURL,
			Example: "admin",
			Matches: []ui.Option{
				{Value: "exact", Title: "is", Chosen: true},
				{Value: "prefix", Title: "starts with"},
			},
		},
	}
}

func groupMappingsEmpty() projects.GroupMappings {
	m := groupMappings()
	m.Rows = nil
	return m
}

func groupMappingsWrong() projects.GroupMappings {
	m := groupMappings()
	m.Add.Claim = ui.Value{Text: "realm_access..roles", Error: "Use the path to a claim, such as groups or " +
		"realm_access.roles."}
	m.Add.Group = ui.Value{Text: "owners", Error: "The app client's tenant has no group with this name or ID. " +
		"Create the group first."}
	return m
}

func groupMappingsViewer() projects.GroupMappings {
	m := groupMappings()
	m.Add = nil
	for i := range m.Rows {
		m.Rows[i].RemoveURL = ""
	}
	return m
}

func groupMappingRemoval() projects.GroupMappingRemoval {
	return projects.GroupMappingRemoval{
		Page: in("Remove a group mapping", mappingsURL, "Shop", "Group mappings"),
		Facts: []ui.Fact{
			{Label: "Mapping", Value: `groups is "staff"`, Mono: true},
			{Label: "Group", Value: "employees"},
		},
		Confirm: ui.Confirmation{
			ID:     "mapping-remove",
			Action: mappingsURL + "/1f0a/remove",
			Impact: []string{"Users who are in the group only because of a claim will be removed from it immediately."},
			Verb:   "Remove",
			Kind:   "mapping",
		},
		BackURL: mappingsURL,
	}
}

func groupMappingsGitHub() projects.GroupMappings {
	m := groupMappings()
	m.Page, m.Provider = in("Group mappings", mappingsURL, "Shop", "web", "GitHub"), "GitHub"
	m.Note = "If you add a mapping, GitHub asks users for read access to their organizations and teams. If an " +
		"organization restricts OAuth apps, GitHub lists it only after an organization owner approves your app."
	m.Rows = []projects.GroupMappingRow{
		{Rule: `teams is "acme/sre"`, Group: "on call", RemoveURL: mappingsURL + "/1f0a"},
	}
	m.Add.Example = "acme/sre"
	m.Add.Claims = []ui.Option{
		{Value: "organizations", Title: "organizations"}, {Value: "teams", Title: "teams", Chosen: true},
	}
	return m
}
