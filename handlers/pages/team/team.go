package team

import (
	"net/http"
	"net/url"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/team"
	"postern/views/ui"
)

func teamPath(id string) string { return "/teams/" + url.PathEscape(id) }

// teamIn is the team in the address.
func teamIn(v *page.Visit) contract.TeamPath { return contract.TeamPath{Team: v.Param("team")} }

// memberIn is the member of a team in the address.
func memberIn(v *page.Visit) contract.TeamMemberPath {
	return contract.MemberOf(v.Param("team"), v.Param("account"))
}

// invitationIn is the invitation to a team in the address.
func invitationIn(v *page.Visit) contract.InvitationPath {
	return contract.InvitationOf(v.Param("team"), v.Param("invitation"))
}

func teamsCrumb() ui.Crumb { return ui.Crumb{Text: "Teams", URL: "/teams"} }

func roleBadge(role string) ui.Badge {
	if role == string(access.Owner) {
		return ui.Badge{Tone: ui.Accent, Text: "Owner"}
	}
	return ui.Badge{Text: roleTitle(role)}
}

// ownRole is the visitor's role in the team of a page.
func ownRole(role string) ui.Badge {
	badge := roleBadge(role)
	badge.Text = "You're " + ui.WithArticle(role)
	return badge
}

func roleTitle(role string) string {
	titles := map[access.Role]string{
		access.Owner:     "Owner",
		access.Member:    "Member",
		access.Viewer:    "Viewer",
		access.Workspace: "Workspace key",
	}
	return titles[access.Role(role)]
}

func roleOptions(chosen string) []ui.Option {
	var options []ui.Option
	for _, one := range []access.Role{access.Owner, access.Member, access.Viewer} {
		role := string(one)
		options = append(options, ui.Option{
			Value: role, Title: roleTitle(role), Text: page.RoleText(role), Chosen: role == chosen,
		})
	}
	return options
}

// chooseTeam keeps the selected team in a cookie. It changes nothing on the server.
func (h *Handler) chooseTeam(v *page.Visit) (web.Answer, error) {
	v.RememberTeam(v.Posted("team"))
	return web.Redirect("/projects"), nil
}

func (h *Handler) showTeams(v *page.Visit) (web.Answer, error) {
	m, err := h.teamList(v)
	return web.Show(team.ListPage(m)), err
}

func (h *Handler) teamList(v *page.Visit) (team.List, error) {
	m := team.List{Page: v.Shell("Teams", "/teams", teamsCrumb())}
	list := page.GroupingList("/teams", "team").Read(v)
	found, err := h.Accounts.Teams(v.Ctx(), v.Who, contract.OwnTeamList{
		Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return m, err
	}
	m.List = page.ListView(list, found)
	for _, t := range found.Items {
		m.Teams = append(m.Teams, team.Card{URL: teamPath(t.ID), Name: t.Name, Role: roleBadge(t.Role)})
	}
	return m, nil
}

func (h *Handler) createTeam(v *page.Visit) (web.Answer, error) {
	var in contract.NewTeam
	v.Fill(&in, "name")
	made, err := h.Accounts.CreateTeam(v.Ctx(), v.Who, contract.TeamCreation{Body: in})
	if err == nil {
		v.RememberTeam(made.ID)
		return v.Done("team", teamPath(made.ID), made.Name)
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.teamList(v)
	m.Name = wrong.Value("/name", in.Name)
	m.Error = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: team.ListPage(m)}, err
}

func (h *Handler) showTeam(v *page.Visit) (web.Answer, error) {
	m, err := h.teamPage(v)
	return web.Show(team.TeamPage(m)), err
}

func (h *Handler) showTeamSettings(v *page.Visit) (web.Answer, error) {
	m, err := h.teamSettings(v)
	return web.Show(team.SettingsPage(m)), err
}

func teamSettingsPath(id string) string { return teamPath(id) + "/settings" }

// teamSettings is the page of a team's settings, with what the visitor may change.
func (h *Handler) teamSettings(v *page.Visit) (team.Team, error) {
	found, err := h.Accounts.Team(v.Ctx(), v.Who, teamIn(v))
	if err != nil {
		return team.Team{}, err
	}
	v.SelectTeam(found.ID)
	m := team.Team{
		Page: v.Shell("Settings for "+found.Name, teamSettingsPath(found.ID), teamsCrumb(),
			ui.Crumb{Text: found.Name, URL: teamPath(found.ID)}, ui.Crumb{Text: "Settings"}),
		Name: found.Name,
		Role: ownRole(found.Role),
		Leave: ui.Confirmation{
			ID:     "leave-confirm",
			Action: teamPath(found.ID) + "/leave",
			Verb:   "Leave",
			Kind:   "team",
			Name:   found.Name,
			Impact: []string{
				"You and your access tokens will immediately lose access to the team's projects. The projects won't " +
					"be deleted.",
			},
			Undo: "To join again, you need a new invitation from an owner.",
		},
	}
	if v.Who.May(found.ID, access.TeamUpdate) {
		m.Rename = &team.Rename{
			Action:   teamPath(found.ID) + "/rename",
			Revision: found.ETag,
			Name:     ui.Value{Text: found.Name},
		}
	}
	return m, h.offerDeletion(v, found, &m)
}

// refusedTeamSettings shows the page of a team's settings with what mark adds to it.
func (h *Handler) refusedTeamSettings(
	v *page.Visit, err error, mark func(*team.Team, *page.Errors),
) (web.Answer, error) {
	wrong, ok := teamErrors(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.teamSettings(v)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.Status, Page: team.SettingsPage(m)}, nil
}

// teamPage is the page of a team, with what the visitor may see and change.
func (h *Handler) teamPage(v *page.Visit) (team.Team, error) {
	found, err := h.Accounts.Team(v.Ctx(), v.Who, teamIn(v))
	if err != nil {
		return team.Team{}, err
	}
	v.SelectTeam(found.ID)
	path := teamPath(found.ID)
	list := &page.Listing{
		Path:   path,
		One:    "member",
		Search: "Email or name",
		Orders: []page.ListOrder{
			{By: "joined", Text: "Joined"}, {By: "name", Text: "Name"}, {By: "role", Text: "Role"},
		},
	}
	list.Read(v)
	members, err := h.Accounts.Members(v.Ctx(), v.Who, contract.TeamMemberList{
		TeamPath: found.Path(), Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return team.Team{}, err
	}
	m := team.Team{
		Page: v.Shell(found.Name, path, teamsCrumb(), ui.Crumb{Text: found.Name}),
		Name: found.Name,
		Role: ownRole(found.Role),
		List: page.ListView(list, members),
	}
	mayChange := v.Who.May(found.ID, access.MemberChange)
	for _, member := range members.Items {
		m.Members = append(m.Members, teamMember(v, path, member, mayChange))
	}
	if v.Who.May(found.ID, access.InvitationRead) {
		m.Invitations, err = h.invitationSection(v, path, found.Path())
	}
	return m, err
}

func teamMember(v *page.Visit, path string, m contract.TeamMember, mayChange bool) team.Member {
	row := team.Member{
		ID:       m.Account,
		Name:     m.Name,
		Email:    m.Email,
		Role:     roleTitle(m.Role),
		Joined:   m.JoinedAt,
		Self:     m.Account == v.Who.Account,
		Revision: m.ETag,
	}
	if mayChange {
		row.Roles, row.RoleAction = roleOptions(m.Role), path+"/members/"+url.PathEscape(m.Account)+"/role"
		if !row.Self { // one leaves further down
			row.RemoveAction = path + "/members/" + url.PathEscape(m.Account) + "/remove"
		}
	}
	return row
}

func (h *Handler) invitationSection(v *page.Visit, path string, at contract.TeamPath) (*team.Invitations, error) {
	list := &page.Listing{
		Path:    path,
		Prefix:  "invitations_",
		Section: "invitations",
		One:     "invitation",
		Search:  "Email",
		Orders: []page.ListOrder{
			{By: "created", Text: "Created"}, {By: "email", Text: "Email"}, {By: "role", Text: "Role"},
			{By: "expires", Text: "Expires"},
		},
	}
	list.Read(v)
	found, err := h.Accounts.Invitations(v.Ctx(), v.Who, contract.InvitationList{
		TeamPath: at, Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"),
	})
	m := team.Invitations{
		List:        page.ListView(list, found),
		Action:      path + "/invitations",
		Roles:       roleOptions(string(access.Member)),
		ProvesEmail: h.Accounts.ProvesEmail,
		Mails:       h.Accounts.SendsMail(),
	}
	for _, i := range found.Items {
		row := team.Invitation{
			ID:           i.ID,
			For:          i.Email,
			Role:         i.Role,
			Ends:         i.ExpiresAt,
			RevokeAction: path + "/invitations/" + url.PathEscape(i.ID) + "/revoke",
		}
		if row.For == "" {
			row.For = "Link from " + ui.Exact(i.CreatedAt)
		}
		switch {
		case i.MailedAt != nil:
			row.For += ", emailed"
		case i.ByMail:
			row.For += ", not emailed yet"
		}
		m.Rows = append(m.Rows, row)
	}
	return &m, err
}

// refusedTeam shows the team's page with what mark adds to it.
func (h *Handler) refusedTeam(v *page.Visit, err error, mark func(*team.Team, *page.Errors)) (web.Answer, error) {
	wrong, ok := teamErrors(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.teamPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.Status, Page: team.TeamPage(m)}, nil
}

// teamErrors are the mistakes in err that the visitor can correct, or that the team was
// changed since.
func teamErrors(err error) (m *page.Errors, ok bool) {
	if fault.KindOf(err) == fault.Stale {
		return &page.Errors{Status: http.StatusPreconditionFailed, Public: web.ProblemOf(err, "").Detail}, true
	}
	return page.ErrorsIn(err)
}

func (h *Handler) saveTeamName(v *page.Visit) (web.Answer, error) {
	in := contract.TeamUpdate{TeamPath: teamIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "name")
	renamed, err := h.Accounts.UpdateTeam(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("settings", teamSettingsPath(renamed.ID), renamed.Name)
	}
	return h.refusedTeamSettings(v, err, func(m *team.Team, wrong *page.Errors) {
		m.Rename.Name = wrong.Value("/name", *in.Body.Name)
		m.Rename.Error = wrong.Rest()
	})
}

func (h *Handler) saveRole(v *page.Visit) (web.Answer, error) {
	in := contract.TeamMemberUpdate{TeamMemberPath: memberIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "role")
	changed, err := h.Accounts.UpdateMember(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("role", teamPath(in.Team), changed.Name, changed.Role)
	}
	return h.refusedTeam(v, err, func(m *team.Team, wrong *page.Errors) { m.Error = wrong.Rest() })
}

func (h *Handler) removeMember(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askRemoveMember(v)
	}
	_, err := h.Accounts.RemoveMember(v.Ctx(), v.Who, memberIn(v))
	if err == nil {
		return v.Done("removed", teamPath(v.Param("team")))
	}
	return h.refusedTeam(v, err, func(m *team.Team, wrong *page.Errors) { m.Error = wrong.Rest() })
}

func (h *Handler) leaveTeam(v *page.Visit) (web.Answer, error) {
	err := access.Check(v.Who, v.Param("team"), access.MemberLeave)
	if err == nil {
		err = v.Confirmed("Check the box to leave the team.")
	}
	if err == nil {
		_, err = h.Accounts.Leave(v.Ctx(), v.Who, teamIn(v))
	}
	if err != nil {
		return h.refusedTeamSettings(v, err, func(m *team.Team, wrong *page.Errors) { v.Mark(&m.Leave, wrong) })
	}
	return v.Done("left", "/teams")
}

func (h *Handler) createInvitation(v *page.Visit) (web.Answer, error) {
	in := contract.InvitationCreation{TeamPath: teamIn(v)}
	v.Fill(&in.Body, "role", "email")
	made, err := h.Accounts.Invite(v.Ctx(), v.Who, in)
	if err != nil {
		return h.refusedTeam(v, err, func(m *team.Team, wrong *page.Errors) {
			m.Invitations.Roles = roleOptions(in.Body.Role)
			m.Invitations.Email = wrong.Value("/email", in.Body.Email)
			m.Invitations.Error = wrong.Rest()
		})
	}
	if made.ByMail {
		return v.Done("mailed", teamPath(made.Team), made.Email)
	}
	return v.Disclose(invitationPath(made.Path()), page.Disclosed{Secret: h.Web.InviteURL(made.Code.Reveal())})
}

func invitationPath(at contract.InvitationPath) string {
	return teamPath(at.Team) + "/invitations/" + url.PathEscape(at.Invitation)
}

// showInvitationLink shows the team's page, the first time with the link of a new
// invitation.
func (h *Handler) showInvitationLink(v *page.Visit) (web.Answer, error) {
	open, err := h.Accounts.Invitation(v.Ctx(), v.Who, invitationIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.teamPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.Disclosed(invitationPath(open.Path()))
	if err != nil {
		return web.Answer{}, err
	}
	m.Invitations.LinkGone = found == nil
	if found != nil {
		m.Invitations.Link = found.Secret
	}
	return web.Show(team.TeamPage(m)), nil
}

func (h *Handler) revokeInvitation(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askRevokeInvitation(v)
	}
	if _, err := h.Accounts.RevokeInvitation(v.Ctx(), v.Who, invitationIn(v)); err != nil {
		return web.Answer{}, err
	}
	return v.Done("uninvited", teamPath(v.Param("team")))
}

// askRemoveMember asks before a member of a team is removed.
func (h *Handler) askRemoveMember(v *page.Visit) (web.Answer, error) {
	team, err := h.Accounts.Team(v.Ctx(), v.Who, teamIn(v))
	if err == nil {
		err = access.Check(v.Who, team.ID, access.MemberChange)
	}
	if err != nil {
		return web.Answer{}, err
	}
	who, err := h.Accounts.Member(v.Ctx(), v.Who, memberIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	all, err := h.Accounts.Members(v.Ctx(), v.Who, contract.TeamMemberList{
		TeamPath: team.Path(), Page: contract.Page{Count: true},
	})
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(team.ID)
	path := teamPath(team.ID)
	title := "Remove " + who.Name + " from " + team.Name
	return v.AskConfirmation(ui.ConfirmationView{
		Page:  v.Shell(title, path, teamsCrumb(), ui.Crumb{Text: team.Name, URL: path}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{
			{Label: "Email", Value: who.Email},
			{Label: "Role", Value: who.Role},
			{Label: "Joined", Time: who.JoinedAt},
		},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "member",
			Name: who.Name,
			Impact: []string{
				"They and their access tokens will immediately lose access to the team's projects. Invitations that " +
					"they created will be revoked.",
				english.Plural(int(all.Total)-1, "member will remain", "members will remain") + ".",
			},
			Undo: "You can invite them again.",
		},
		BackURL: path,
	})
}

// askRevokeInvitation asks before an invitation is revoked.
func (h *Handler) askRevokeInvitation(v *page.Visit) (web.Answer, error) {
	team, err := h.Accounts.Team(v.Ctx(), v.Who, teamIn(v))
	if err == nil {
		err = access.Check(v.Who, team.ID, access.InvitationRevoke)
	}
	if err != nil {
		return web.Answer{}, err
	}
	one, err := h.Accounts.Invitation(v.Ctx(), v.Who, invitationIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(team.ID)
	path := teamPath(team.ID)
	facts := []ui.Fact{{Label: "Role", Value: one.Role}, {Label: "Expires", Time: one.ExpiresAt}}
	if one.Email != "" {
		facts = append([]ui.Fact{{Label: "For", Value: one.Email}}, facts...)
	}
	return v.AskConfirmation(ui.ConfirmationView{
		Page: v.Shell("Revoke an invitation", path, teamsCrumb(), ui.Crumb{Text: team.Name, URL: path},
			ui.Crumb{Text: "Revoke an invitation"}),
		Title: "Revoke an invitation to " + team.Name,
		Facts: facts,
		Confirm: ui.Confirmation{
			Verb:   "Revoke",
			Kind:   "invitation",
			Impact: []string{"The link will stop working immediately."},
			Undo:   "You can create another.",
		},
		BackURL: path,
	})
}
