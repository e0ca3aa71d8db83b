package views_test

import (
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

// userStates are the pages about the people of a tenant.
func userStates() []state {
	return []state{
		{"users", tenants.UsersPage(users())},
		{"project-users", projects.UsersPage(projectUsers())},
		{"project-users-one", projects.UsersPage(projectUsersOfOne())},
		{"project-users-empty", projects.UsersPage(projects.Users{
			Page: in("Users", "/projects/shop/users", "Shop", "Users"),
			Head: tenantsHead(),
		})},
		{"project-users-none-found", projects.UsersPage(projects.Users{
			Page:     in("Users", "/projects/shop/users", "Shop", "Users"),
			Head:     tenantsHead(),
			List:     narrowed(listed("/projects/shop/users", "users", "name", "state")),
			Unlisted: true,
			Offered:  50,
		})},
		{"project-users-no-tenant", projects.UsersPage(projects.Users{
			Page:       in("Users", "/projects/shop/users", "Shop", "Users"),
			Head:       tenantsHead(),
			List:       listed("/projects/shop/users", "users", "name", "state"),
			Unlisted:   true,
			Offered:    50,
			AsksTenant: true,
		})},
		{"users-empty", tenants.UsersPage(tenants.Users{
			Page: in("Users", "/tenants/tnt_1/users", "Acme", "Users"),
			Head: tenantHead(1),
			Invite: &tenants.Invite{
				Open:   true,
				Action: "/tenants/tnt_1/users",
				Email:  ui.Value{Text: "ana", Error: "Use an email address such as ana@example.com."},
				Groups: groupChoices(),
			},
		})},
		{"users-none", tenants.UsersPage(tenants.Users{
			Page: in("Users", "/tenants/tnt_1/users", "Acme", "Users"),
			Head: tenantHead(1),
			List: narrowed(listed("/tenants/tnt_1/users", "users", "name", "state")),
		})},
		{"user", tenants.UserPage(user())},
		{"user-frozen", tenants.UserPage(userFrozen())},
		{"user-viewer", tenants.UserPage(userViewer())},
		{"user-without-app-client", tenants.UserPage(userWithoutAppClient())},
		{"groups", tenants.GroupsPage(groups())},
		{"groups-empty", tenants.GroupsPage(tenants.Groups{
			Page: in("Groups", "/tenants/tnt_1/groups", "Acme", "Groups"),
			Head: tenantHead(2),
			Create: &tenants.GroupForm{
				Open:   true,
				Action: "/x",
				Name: ui.Value{
					Text: "All Staff",
					Error: "Use 1 to 63 lowercase letters, digits, dots, hyphens or underscores. Start with a " +
						"letter or digit.",
				},
			},
		})},
		{"group", tenants.GroupPage(group())},
		{"group-viewer", tenants.GroupPage(tenants.Group{
			Page:        in("Staff", "/groups/grp_1", "Acme", "Groups", "Staff"),
			Name:        "staff",
			DisplayName: "Staff",
			Members: []tenants.Member{{
				ID:    "usr_1",
				URL:   "/users/usr_1",
				Title: "Ana Ferreira",
				Email: "ana@example.com",
				State: ui.Badge{Tone: ui.Good, Text: "active"},
				Role:  "admin",
			}},
		})},
		{"sign-up", tenants.SignupPage(signUp())},
		{"sign-up-viewer", tenants.SignupPage(tenants.Signup{
			Page:       in("Sign-up", "/tenants/tnt_1/signup", "Acme", "Sign-up"),
			Head:       tenantHead(3),
			InviteOnly: true,
		})},
	}
}

func userWithoutAppClient() tenants.User {
	m := user()
	m.Invitation = &tenants.Invitation{Action: "/users/usr_1/invitation", Setup: []ui.Link{
		{Text: "Create an app client in shop", URL: "/projects/shop/login"},
		{Text: "Create an app client in books", URL: "/projects/books/login"},
	}}
	return m
}

func groupChoices() []ui.Option {
	return []ui.Option{{Value: "grp_1", Title: "Staff", Chosen: true}, {Value: "grp_2", Title: "leads"}}
}

func users() tenants.Users {
	return tenants.Users{
		Page:   in("Users", "/tenants/tnt_1/users", "Acme", "Users"),
		Head:   tenantHead(1),
		List:   listed("/tenants/tnt_1/users", "users", "name", "state", "created", "last_login"),
		Invite: &tenants.Invite{Action: "/tenants/tnt_1/users"},
		Rows: []ui.UserRow{
			{
				URL:       "/users/usr_1",
				Title:     "Ana Ferreira",
				Email:     "ana@example.com",
				State:     ui.Badge{Tone: ui.Good, Text: "active"},
				LastLogin: on("20 Nov 2026"),
				Seen:      ago(2),
			},
			{
				URL:       "/users/usr_2",
				Title:     "Vic Vanderbilt-Longname the Third",
				Email:     "vic.vanderbilt.longname@subsidiary.example.com",
				State:     ui.Badge{Tone: ui.Cold, Text: "frozen"},
				LastLogin: on("9 Oct 2026"),
			},
			{
				URL:   "/users/usr_3",
				Title: "eve@example.com",
				Email: "eve@example.com",
				State: ui.Badge{Tone: ui.Accent, Text: "invited"},
			},
		},
	}
}

func projectUsers() projects.Users {
	m := projects.Users{
		Page: in("Users", "/projects/shop/users", "Shop", "Users"),
		Head: tenantsHead(),
		List: listed("/projects/shop/users", "users", "name", "state", "created", "last_login"),
		Rows: users().Rows,
	}
	for i := range m.Rows {
		m.Rows[i].Tenant = ui.Link{URL: "/tenants/tnt_1/users", Text: "Acme Ltd"}
	}
	return m
}

func projectUsersOfOne() projects.Users {
	m := projectUsers()
	m.Rows, m.TenantURL = users().Rows, "/tenants/tnt_0/users"
	return m
}

func user() tenants.User {
	return tenants.User{
		Page:         in("Ana Ferreira", "/users/usr_1", "Acme", "Users", "Ana Ferreira"),
		Title:        "Ana Ferreira",
		State:        ui.Badge{Tone: ui.Good, Text: "active"},
		FreezeAction: "/users/usr_1/freeze",
		Facts: []ui.Fact{{
			Label: "Email",
			Value: "ana@example.com",
		}, {Label: "ID", Value: "usr_06gzn70ajtqe7shdphsb2fr6cw", Mono: true, Copy: "user-id"},
			{Label: "Since", Value: "1 Nov 2026"},
			{
				Label: "Last sign-in",
				Value: "20 Nov 2026, 12:31 UTC",
			}, {Label: "Last call", Value: "20 Nov 2026, 13:00 UTC"}},
		Identities: []tenants.Identity{{
			Issuer:  "microsoft:https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
			Subject: "00000000-0000-0000-66f3-3332eca7ea81",
			Since:   on("1 Nov 2026"),
		}},
		List: second("sessions_", listed("/users/usr_1", "sessions", "created", "last_seen")),
		Sessions: []tenants.Session{
			{
				Application: "Shop",
				Since:       ago(8),
				Detail:      "with Google · Firefox on macOS",
				Action:      "/users/usr_1/sessions/ses_1/end",
			},
			{
				Application: "Back office",
				Since:       ago(9),
				Detail:      "with Sign in with the Identity Provider of Acme",
				Action:      "/users/usr_1/sessions/ses_2/end",
			},
		},
		EndAllAction: "/users/usr_1/sessions/end-all",
		Consents: []tenants.Consent{{
			Application: "Shop",
			Since:       ago(27),
			Detail:      "openid, profile, email, offline_access",
			Action:      "/users/usr_1/consents/cli_1/withdraw",
		}},
		Groups: []tenants.Membership{{
			ID:          "grp_1",
			URL:         "/groups/grp_1",
			Name:        "staff",
			DisplayName: "All staff of the international company",
			Role:        "admin",
			LeaveAction: "/groups/grp_1/members/usr_1/remove",
		},
			{ID: "grp_2", URL: "/groups/grp_2", Name: "all", DisplayName: "all"}},
		Join: &tenants.Join{Action: "/users/usr_1/groups", Groups: groupChoices()},
		Change: &tenants.UserChange{
			Action:   "/users/usr_1",
			Revision: "x",
			Name:     ui.Value{Text: "Ana Ferreira"},
			Email:    ui.Value{Text: "ana", Error: "Use an email address such as ana@example.com."},
		},
		Delete: &ui.Confirmation{
			ID:     "delete-confirm",
			Action: "/users/usr_1/delete",
			Verb:   "Delete",
			Kind:   "user",
			Impact: []string{
				"Their identities will be deleted, and 2 sessions and 1 group membership will end immediately.",
			},
		},
	}
}

func userFrozen() tenants.User {
	m := user()
	m.State, m.FreezeAction, m.UnfreezeAction, m.Identities, m.Groups, m.Join = ui.Badge{
		Tone: ui.Cold,
		Text: "frozen",
	}, "", "/users/usr_1/unfreeze", nil, nil, nil
	m.Error = "Use member or admin."
	return m
}

func groups() tenants.Groups {
	return tenants.Groups{
		Page:   in("Groups", "/tenants/tnt_1/groups", "Acme", "Groups"),
		Head:   tenantHead(2),
		List:   listed("/tenants/tnt_1/groups", "groups", "name", "created"),
		Create: &tenants.GroupForm{Action: "/tenants/tnt_1/groups"},
		Rows: []tenants.GroupRow{{
			URL:         "/groups/grp_1",
			Name:        "staff",
			DisplayName: "All staff of the international company",
			Members:     "1,204 users",
		}, {URL: "/groups/grp_2", Name: "leads", DisplayName: "leads", Members: "0 users"}},
	}
}

func group() tenants.Group {
	return tenants.Group{
		Page:        in("Staff", "/groups/grp_1", "Acme", "Groups", "Staff"),
		Name:        "staff",
		DisplayName: "Staff",
		List:        listed("/groups/grp_1", "members", "name", "role"),
		Parents:     []ui.Link{{URL: "/groups/grp_8", Text: "all"}, {URL: "/groups/grp_9", Text: "Partners"}},
		Error:       "Use member or admin.",
		Members: []tenants.Member{
			{
				ID:           "usr_1",
				URL:          "/users/usr_1",
				Title:        "Ana Ferreira",
				Email:        "ana@example.com",
				State:        ui.Badge{Tone: ui.Good, Text: "active"},
				RemoveAction: "/groups/grp_1/members/usr_1/remove",
			},
			{
				ID:           "usr_2",
				URL:          "/users/usr_2",
				Title:        "Vic Vanderbilt-Longname the Third",
				Email:        "vic.vanderbilt.longname@subsidiary.example.com",
				State:        ui.Badge{Tone: ui.Cold, Text: "frozen"},
				RemoveAction: "/groups/grp_1/members/usr_2/remove",
			},
		},
		Add: &tenants.AddMember{
			Action: "/groups/grp_1/members",
			Email: ui.Value{
				Text:  "eve@example.com",
				Error: "No user in this tenant has this address. First invite the user on the Users page.",
			},
		},
		OwnerList: second("owners_", listed("/groups/grp_1", "apps", "owner", "role")),
		Owners: []tenants.GroupOwner{
			{Name: "billing-service", HasKeys: true, Role: "member", RemoveAction: "/groups/grp_1/owners/remove"},
			{
				Name: "a-service-with-a-name-that-does-not-fit-on-the-screen-of-a-telephone", Role: "admin",
				RemoveAction: "/groups/grp_1/owners/remove",
			},
		},
		AddOwner: &tenants.AddOwner{
			Action: "/groups/grp_1/owners",
			Owner: ui.Value{
				Text:  "usr_1",
				Error: "This is the ID of a user. Add users as members of the group.",
			},
		},
		Children: []tenants.Nested{{
			URL:          "/groups/grp_2",
			Text:         "leads",
			RemoveAction: "/groups/grp_1/children/grp_2/remove",
		}},
		Nest: &tenants.Nest{
			Action: "/groups/grp_1/children",
			Groups: groupChoices(),
			Error:  "A group can't contain itself: staff is already in leads, which is in heads.",
		},
		Change: &tenants.GroupForm{
			Action:      "/groups/grp_1",
			Revision:    "x",
			Name:        ui.Value{Text: "staff"},
			DisplayName: ui.Value{Text: "Staff"},
		},
		Delete: &ui.Confirmation{
			ID:     "delete-confirm",
			Action: "/groups/grp_1/delete",
			Verb:   "Delete",
			Kind:   "group",
			Impact: []string{"Users and nested groups won't be deleted."},
		},
	}
}

func signUp() tenants.Signup {
	return tenants.Signup{
		Page:       in("Sign-up", "/tenants/tnt_1/signup", "Acme", "Sign-up"),
		Head:       tenantHead(3),
		InviteOnly: true,
		Action:     "/tenants/tnt_1/signup",
		List:       listed("/tenants/tnt_1/signup", "approvals", "created", "value"),
		Approvals: []tenants.Approval{{
			ID:        "apv_1",
			Value:     "example.com",
			Kind:      "every address in the domain",
			Groups:    "into Staff, leads",
			Since:     on("1 Nov 2026"),
			EndAction: "/tenants/tnt_1/signup/approvals/apv_1/end",
		},
			{
				ID:        "apv_2",
				Value:     "a.very.long.address.of.somebody@subsidiary.of.a.company.example.org",
				Kind:      "this address",
				Groups:    "no groups",
				Since:     on("9 Nov 2026"),
				EndAction: "/tenants/tnt_1/signup/approvals/apv_2/end",
			}},
		Approve: &tenants.Approve{
			Action: "/tenants/tnt_1/signup/approvals",
			Value:  ui.Value{Text: "example", Error: "Use a domain such as example.com."},
			Groups: groupChoices(),
		},
	}
}

// userViewer is a user who is signed in nowhere, as a viewer sees them.
func userViewer() tenants.User {
	m := user()
	m.Sessions, m.EndAllAction, m.FreezeAction = nil, "", ""
	m.Join, m.Change, m.Delete = nil, nil, nil
	for i := range m.Consents {
		m.Consents[i].Action = ""
	}
	for i := range m.Groups {
		m.Groups[i].LeaveAction = ""
	}
	return m
}
