package ascode

import (
	"net/url"

	"postern/core/contract"
)

const (
	ofBrowser  = "Sessions belong to browsers. Access tokens can't list or end them."
	ofPassword = "Access tokens can't change sign-in methods."
	ofPerson   = "Only a person in a browser can do this."
	ofProduct  = "This page is available only in the dashboard."
)

var accountPages = map[string]Page{
	"/account":          shows(contract.GetWhoami),
	"/account/password": nothing(ofPassword),
	"/account/delete":   shows(contract.GetAccountDeletion),
	"/account/sessions": nothing(ofBrowser),
	"/account/signins":  nothing(ofPassword),
	"/claim/:code":      nothing(""),
	"/claimed":          shows(contract.ListTeams).and("list-projects", "projects list"),
	"/invite/:code":     nothing(""),
	"/teams":            shows(contract.ListTeams, listQuery("created", "name")...),
	"/teams/:team": shows(contract.ListTeamMembers, listQuery("joined", "name", "role")...).
		alsoShows(contract.ListInvitations, listOf("invitations_", "created", "email", "role", "expires")...),
	"/teams/:team/settings": shows(contract.GetTeam).alsoShows(contract.GetTeamDeletion),
	"/device":               nothing(ofPerson),
	"/device/approved":      nothing(ofPerson),
	"/device/denied":        nothing(ofPerson),
	"/search":               nothing("Search is available only in the dashboard."),
	"/shortcuts":            nothing(ofProduct),
	"/settings/tokens": shows(contract.ListTokens,
		listQuery("-created", "name", "expires", "-last_used")...),
	"/settings/tokens/:token": shows(contract.GetToken),
	"/settings/webhooks": shows(contract.ListWebhooks,
		append(listQuery("-created", "url"), Text("state", "state", "--state"))...),
	"/audit": shows(contract.ListAuditEntries, auditQuery...).
		alsoShows(contract.VerifyAudit, Text("team", "team", "--team")),
	"/exports/:export":                     shows(contract.GetExport),
	"/settings/tokens/:token/secret":       shows(contract.GetToken),
	"/teams/:team/invitations/:invitation": shows(contract.GetInvitation),
	"/settings/webhooks/:webhook": shows(contract.GetWebhook).
		alsoShows(contract.ListDeliveries, sorted("sort", "dir", "-created"),
			Text("state", "state", "--state"), Text("event", "event", "--event")),
	"/settings/webhooks/:webhook/secret":               shows(contract.GetWebhook),
	"/settings/webhooks/:webhook/deliveries/:delivery": shows(contract.GetDelivery),
}

var auditQuery = []Field{
	Text("team", "team", "--team"), Text("project", "project", "--project"), Text("actor", "actor", "--actor"),
	Text("action", "action", "--action"), Text("object", "object", "--object"), Text("outcome", "outcome", "--outcome"),
	auditDay("from", "T00:00:00Z"), auditDay("to", "T23:59:59Z"),
	Text("q", "q", "--search"), sorted("sort", "dir", "-created"),
}

// auditDay is the moment at which a day begins or ends.
func auditDay(name, moment string) Field {
	return Func(name, name, func(form url.Values) (any, [][]string) {
		day := form.Get(name)
		if day == "" {
			return nil, nil
		}
		return day + moment, [][]string{{"--" + name, day + moment}}
	})
}

var accountForms = map[string][]Call{
	"/claim/:code": {{
		Operation: contract.ClaimWorkspace.ID, Command: "claim URL",
		Fields: []Field{Fixed("code", "CODE"), Func("team", "team", func(form url.Values) (any, [][]string) {
			team := form.Get("team")
			if team == "" || team == "new" {
				return nil, nil
			}
			return team, [][]string{{"--team", team}}
		})},
		Note: "Replace URL with the URL of this page. The URL contains a secret code.",
	}},
	"/invite/:code": {{
		Operation: contract.AcceptInvitation.ID, Command: "invitations accept LINK",
		Fields: []Field{Fixed("code", "CODE")},
		Note:   "Replace LINK with the URL of this page. The URL contains a secret code.",
	}},
	"/account": carriesOut(contract.UpdateAccount, append(fieldsOf(contract.UpdateAccount, "name", "email"),
		Secret("password", "password", "--password-file"))...),
	"/account/delete": carriesOut(contract.DeleteAccount, Text("confirm", "confirm", "--confirm").Need(),
		Secret("password", "password", "--password-file").Need()),
	"/account/password":                 nil, // see ofPassword
	"/account/signins/link/:provider":   nil, // see ofPassword
	"/account/signins/:identity/unlink": nil, // see ofPassword
	"/account/sessions/end-others":      nil, // see ofBrowser
	"/account/sessions/:session/end":    nil, // see ofBrowser
	"/device":                           nil, // see ofPerson
	"/teams":                            submits(contract.CreateTeam, "name"),

	"/teams/:team/rename":                         submits(contract.UpdateTeam, "name"),
	"/teams/:team/leave":                          submits(contract.LeaveTeam),
	"/teams/:team/members/:account/role":          submits(contract.UpdateTeamMember, "role"),
	"/teams/:team/members/:account/remove":        submits(contract.RemoveTeamMember),
	"/teams/:team/invitations":                    submits(contract.CreateInvitation, "role", "email"),
	"/teams/:team/invitations/:invitation/revoke": submits(contract.RevokeInvitation),
	"/teams/:team/delete": {{
		Operation: contract.DeleteTeam.ID, Command: commandOf(contract.DeleteTeam),
		Query: []Field{confirmName},
	}},
	"/search": nil, // it finds pages of the dashboard
}

// confirmName is the name that is typed to delete something permanently.
var confirmName = Text("typed_name", "confirm", "").Need()

var settingsForms = map[string][]Call{
	"/settings/tokens":               submits(contract.CreateToken, "name", "scopes", "expires_at"),
	"/settings/tokens/:token/revoke": submits(contract.RevokeToken),
	"/settings/webhooks":             submits(contract.CreateWebhook, "url", "description", "events", "team"),

	"/settings/webhooks/:webhook":        submits(contract.UpdateWebhook, "url", "description", "events"),
	"/settings/webhooks/:webhook/switch": submits(contract.UpdateWebhook, "enabled"),
	"/settings/webhooks/:webhook/rotate": submits(contract.RotateWebhook),
	"/settings/webhooks/:webhook/delete": submits(contract.DeleteWebhook),
	"/settings/webhooks/:webhook/test":   submits(contract.TestWebhook),

	"/settings/webhooks/:webhook/deliveries/:delivery/redeliver": submits(contract.Redeliver),
}
