package views_test

import (
	"slices"

	"postern/views/account"
	"postern/views/signin"
	"postern/views/team"
	"postern/views/ui"
)

// peopleStates are the pages about accounts and teams.
func peopleStates() []state {
	return slices.Concat(arrivalStates(), teamStates(), accountStates())
}

// arrivalStates are the pages on the way to an account: sign-in, sign-up and invitation.
func arrivalStates() []state {
	providers := []signin.Provider{{ID: "oidc", Name: "Example ID"}, {ID: "github", Name: "GitHub"}}
	return []state{
		{"signin-providers", signin.SignInPage(signin.SignIn{
			Page:      out("Sign in", "/signin"),
			Next:      "/projects/shop",
			Providers: providers,
			SignUpURL: "/signup",
			Error:     "Signing in with GitHub failed. Try again.",
		})},
		{"signup", signin.SignUpPage(signin.SignUp{
			Page:              out("Create an account", "/signup"),
			Intro:             "You'll join Payments as a member.",
			MinPasswordLength: 12,
			Next:              "/invite/code",
			Providers:         providers,
			SignInURL:         "/signin",
		})},
		{"signup-wrong", signin.SignUpPage(signin.SignUp{
			Page:              out("Create an account", "/signup"),
			MinPasswordLength: 12,
			SignInURL:         "/signin",
			Email: ui.Value{
				Text:  "ana@example.com",
				Error: "An account with this address already exists. Sign in to that account, or use another address.",
			},
			Name: ui.Value{Text: "Ana"},
		})},
		{"signup-closed", signin.SignUpPage(signin.SignUp{
			Page:      out("Create an account", "/signup"),
			Refusal:   "You need an invitation to create an account here. Ask a team owner for a link.",
			SignInURL: "/signin",
		})},
		{"leave", signin.LeavePage(signin.Leave{
			Page: out("Going to GitHub", "/signin"),
			Name: "GitHub",
			URL:  "https://github.com/login/oauth/authorize?state=x",
		})},
		{"invited", signin.InvitedPage(signin.Invited{
			Page:      out("Invitation", "/invite/code"),
			Team:      "Payments",
			Role:      "viewer",
			RoleText:  "Viewers can see everything except the audit log and invitations.",
			SignInURL: "/signin",
			SignUpURL: "/signup",
		})},
		{"invited-in", signin.InvitedPage(signin.Invited{
			Page:     in("Invitation", "/invite/code"),
			Team:     "Payments",
			Role:     "owner",
			RoleText: "Owners can do everything, including managing members and permanently deleting projects.",
			Account:  "ana@example.com",
			Action:   "/invite/code",
			Error: "This invitation is for vic@example.com. Sign in to the account with that address, or ask for " +
				"another invitation.",
		})},
		{"invited-over", signin.InvitedPage(signin.Invited{
			Page:    out("Invitation", "/projects"),
			Refusal: "This invitation has expired, or has already been used or revoked. Ask for a new one.",
		})},
	}
}

// teamStates are the pages about teams and their members.
func teamStates() []state {
	return []state{
		{"teams", team.ListPage(team.List{
			Page: of("Teams"),
			List: listed("/teams", "teams", "created", "name"),
			Teams: []team.Card{
				{URL: "/teams/1", Name: "Ana Lopez", Role: ui.Badge{Tone: ui.Accent, Text: "Owner"}},
				{URL: "/teams/2", Name: "Payments", Role: ui.Badge{Text: "Viewer"}},
			},
		})},
		{"teams-none", team.ListPage(team.List{
			Page:  in("Teams", "/teams"),
			Error: "You are in 100 teams, which is the maximum. Leave one to create another.",
		})},
		{"team", team.TeamPage(ownTeam())},
		{"team-settings", team.SettingsPage(ownTeam())},
		{"team-viewer", team.TeamPage(team.Team{
			Page: of("Payments"),
			Name: "Payments",
			Role: ui.Badge{Text: "Viewer"},
			Leave: ui.Confirmation{
				ID:     "leave-confirm",
				Action: "/teams/1/leave",
				Verb:   "Leave",
				Kind:   "team",
				Name:   "Payments",
				Impact: []string{"You and your access tokens will immediately lose access to the team's projects. " +
					"The projects won't be deleted."},
				Undo: "To join again, you need a new invitation from an owner.",
			},
			Members: []team.Member{
				{
					ID:     "acc_1",
					Name:   "Ana Lopez",
					Email:  "ana@example.com",
					Role:   "Owner",
					Joined: on("1 Nov 2026"),
				},
			},
		})},
	}
}

// accountStates are the pages of the settings of an account.
func accountStates() []state {
	return []state{
		{"profile", account.ProfilePage(account.Profile{
			Page:        of("Your account"),
			Name:        ui.Value{Text: "Ana Lopez"},
			Email:       ui.Value{Text: "ana@example.com"},
			Unconfirmed: "ana@lopez.example",
			Mails:       true,
			Has:         true,
		})},
		{"profile-wrong", account.ProfilePage(account.Profile{
			Page: of("Your account"),
			Name: ui.Value{Error: "Enter a name of 1 to 80 characters."},
			Email: ui.Value{
				Text:  "ben@example.com",
				Error: "Another account has this address. Use a different one.",
			},
			Has:           true,
			PasswordError: "This isn't your current password.",
		})},
		{"confirm-email", account.ConfirmationPage(account.Confirmation{
			Page:   out("New email address", "/email/code"),
			Action: "/email/code",
			Email:  "ana@lopez.example",
		})},
		{"confirm-email-over", account.ConfirmationOverPage(out("This link doesn't work", "/account"))},
		{"confirmed-email", account.ConfirmedPage(account.Confirmation{
			Page:  out("New email address", "/email/code"),
			Email: "ana@lopez.example",
		})},
		{"account", account.PasswordPage(account.Password{
			Page:              of("Password"),
			Has:               true,
			MinPasswordLength: 12,
			OldError:          "This isn't your current password.",
		})},
		{"account-first-password", account.PasswordPage(account.Password{
			Page:              of("Password"),
			MinPasswordLength: 12,
		})},
		{"sessions", account.SessionsPage(account.Sessions{
			Page: of("Where you're signed in"),
			List: listed("/account/sessions", "sessions", "created", "last_seen"),
			Sessions: []account.Session{
				{
					ID:      "ses_1",
					Name:    "Firefox on Linux",
					From:    "192.0.2.7",
					Seen:    ago(0),
					Current: true,
				},
				{
					ID:        "ses_2",
					Name:      "Safari on iPhone",
					From:      "198.51.100.4",
					Seen:      ago(3),
					EndAction: "/account/sessions/ses_2/end",
				},
			},
		})},
		{"linked", account.LinkedPage(account.Linked{
			Page:     of("Linked"),
			Password: true,
			Error:    "This sign-in is already linked to an account. Unlink it there first.",
			Links: []account.Link{
				{
					ID:           "idn_1",
					Name:         "GitHub",
					Email:        "ana@example.com",
					Seen:         ago(3),
					UnlinkAction: "/account/signins/idn_1/unlink",
				},
			},
			Offers: []account.Offer{{Name: "Example ID", Action: "/account/signins/link/oidc"}},
		})},
	}
}

// of is a page for someone in two teams.
func of(title string) ui.Page {
	page := in(title, "/teams", "Teams")
	page.Account.Team = "Payments"
	page.Account.Teams = []ui.Option{
		{Value: "team_1", Title: "Ana Lopez", Note: "owner"},
		{Value: "team_2", Title: "Payments", Note: "viewer", Chosen: true},
	}
	return page
}

func ownTeam() team.Team {
	roles := []ui.Option{
		{Value: "owner", Title: "Owner"},
		{Value: "member", Title: "Member", Chosen: true},
		{Value: "viewer", Title: "Viewer"},
	}
	return team.Team{
		Page: of("Payments"),
		Name: "Payments",
		Role: ui.Badge{Tone: ui.Accent, Text: "Owner"},
		Erase: &ui.Confirmation{
			ID:     "erase-confirm",
			Action: "/teams/1/delete",
			Facts:  []ui.Fact{{Label: "Members", Value: "2"}, {Label: "Tenant users", Value: "1,204"}},
			Impact: []string{"Everything listed above will be deleted. Members will lose access immediately but keep " +
				"their accounts."},
			Name:  "Payments",
			Type:  "Payments",
			Typed: ui.Value{Text: "Payment", Error: "Type the team's name, Payments, to delete the team."},
			Verb:  "Delete",
			Kind:  "team",
		},
		Error: "A team must have at least one owner. Make another member an owner first.",
		Members: []team.Member{
			{
				ID:         "acc_1",
				Name:       "Ana Lopez",
				Email:      "ana@example.com",
				Role:       "Owner",
				Joined:     on("1 Nov 2026"),
				Self:       true,
				Roles:      roles,
				RoleAction: "/teams/1/members/acc_1/role",
				Revision:   "x",
			},
			{
				ID:           "acc_2",
				Name:         "Vic Vanderbilt-Longname",
				Email:        "vic.vanderbilt.longname@subsidiary.example.com",
				Role:         "Member",
				Joined:       on("9 Nov 2026"),
				Roles:        roles,
				RoleAction:   "/teams/1/members/acc_2/role",
				RemoveAction: "/teams/1/members/acc_2/remove",
				Revision:     "x",
			},
		},
		Invitations: &team.Invitations{
			List:   second("invitations_", listed("/teams/1", "invitations", "created", "email")),
			Action: "/teams/1/invitations",
			Roles:  roles,
			Link:   "http://127.0.0.1:8080/invite/0123456789abcdefghijABCDEFGHIJ0123456789abc",
			Rows: []team.Invitation{
				{
					ID:           "inv_1",
					For:          "vic@example.com",
					Role:         "viewer",
					Ends:         on("27 Nov 2026"),
					RevokeAction: "/teams/1/invitations/inv_1/revoke",
				},
			},
		},
		Rename: &team.Rename{Action: "/teams/1/rename", Revision: "x", Name: ui.Value{Text: "Payments"}},
		Leave: ui.Confirmation{
			ID:     "leave-confirm",
			Action: "/teams/1/leave",
			Verb:   "Leave",
			Kind:   "team",
			Name:   "Payments",
			Impact: []string{"You and your access tokens will immediately lose access to the team's projects. The " +
				"projects won't be deleted."},
			Undo: "To join again, you need a new invitation from an owner.",
		},
	}
}
