package pages

import (
	"net/http"
	"net/url"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/team"
	"postern/views/ui"
)

func teamPath(id string) string { return "/teams/" + url.PathEscape(id) }

// teamIn is the team in the address.
func teamIn(v *visit) contract.TeamPath { return contract.TeamPath{Team: v.param("team")} }

// memberIn is the member of a team in the address.
func memberIn(v *visit) contract.TeamMemberPath {
	return contract.MemberOf(v.param("team"), v.param("account"))
}

// invitationIn is the invitation to a team in the address.
func invitationIn(v *visit) contract.InvitationPath {
	return contract.InvitationOf(v.param("team"), v.param("invitation"))
}

func teamsCrumb() ui.Crumb { return ui.Crumb{Text: "Teams", URL: "/teams"} }

func roleBadge(role string) ui.Badge {
	if role == string(access.Owner) {
		return ui.Badge{Tone: ui.Accent, Text: "Owner"}
	}
	return ui.Badge{Text: roleTitle(role)}
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
		options = append(options, ui.Option{Value: role, Title: roleTitle(role), Chosen: role == chosen})
	}
	return options
}

// chooseTeam keeps the selected team in a cookie. It changes nothing on the server.
func (h *Handler) chooseTeam(v *visit) (web.Answer, error) {
	v.rememberTeam(v.posted("team"))
	return web.Redirect("/projects"), nil
}

func (h *Handler) showTeams(v *visit) (web.Answer, error) {
	m, err := h.teamList(v)
	return web.Show(team.ListPage(m)), err
}

func (h *Handler) teamList(v *visit) (team.List, error) {
	m := team.List{Page: v.shell("Teams", "/teams", teamsCrumb())}
	list := groupingList("/teams", "team").read(v)
	found, err := h.Accounts.Teams(v.ctx(), v.who, contract.OwnTeamList{
		Page: list.asked(), Sort: list.sorting(), Text: list.get("q"),
	})
	if err != nil {
		return m, err
	}
	m.List = listView(list, found)
	for _, t := range found.Items {
		m.Teams = append(m.Teams, team.Card{URL: teamPath(t.ID), Name: t.Name, Role: roleBadge(t.Role)})
	}
	return m, nil
}

func (h *Handler) createTeam(v *visit) (web.Answer, error) {
	var in contract.NewTeam
	v.fill(&in, "name")
	made, err := h.Accounts.CreateTeam(v.ctx(), v.who, contract.TeamCreation{Body: in})
	if err == nil {
		v.rememberTeam(made.ID)
		return v.done("team", teamPath(made.ID), made.Name)
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.teamList(v)
	m.Name = wrong.value("/name", in.Name)
	m.Error = wrong.rest()
	return web.Answer{Status: wrong.status, Page: team.ListPage(m)}, err
}

func (h *Handler) showTeam(v *visit) (web.Answer, error) {
	m, err := h.teamPage(v)
	return web.Show(team.TeamPage(m)), err
}

func (h *Handler) showTeamSettings(v *visit) (web.Answer, error) {
	m, err := h.teamSettings(v)
	return web.Show(team.SettingsPage(m)), err
}

func teamSettingsPath(id string) string { return teamPath(id) + "/settings" }

// teamSettings is the page of a team's settings, with what the visitor may change.
func (h *Handler) teamSettings(v *visit) (team.Team, error) {
	found, err := h.Accounts.Team(v.ctx(), v.who, teamIn(v))
	if err != nil {
		return team.Team{}, err
	}
	v.selectTeam(found.ID)
	m := team.Team{
		Page: v.shell("Settings of "+found.Name, teamSettingsPath(found.ID), teamsCrumb(),
			ui.Crumb{Text: found.Name, URL: teamPath(found.ID)}, ui.Crumb{Text: "Settings"}),
		Name: found.Name,
		Role: roleBadge(found.Role),
		Leave: ui.Confirmation{
			ID:     "leave-confirm",
			Action: teamPath(found.ID) + "/leave",
			Verb:   "Leave",
			Kind:   "team",
			Name:   found.Name,
			Impact: []string{
				"You immediately lose access to its projects, including with your access tokens. The projects stay.",
			},
			Undo: "An owner would have to invite you again.",
		},
	}
	if v.who.May(found.ID, access.TeamUpdate) {
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
	v *visit, err error, mark func(*team.Team, *formErrors),
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
	return web.Answer{Status: wrong.status, Page: team.SettingsPage(m)}, nil
}

// teamPage is the page of a team, with what the visitor may see and change.
func (h *Handler) teamPage(v *visit) (team.Team, error) {
	found, err := h.Accounts.Team(v.ctx(), v.who, teamIn(v))
	if err != nil {
		return team.Team{}, err
	}
	path := teamPath(found.ID)
	list := &listing{
		path:   path,
		one:    "member",
		search: "Email or name",
		orders: []listOrder{
			{by: "joined", text: "Joined"}, {by: "name", text: "Name"}, {by: "role", text: "Role"},
		},
	}
	list.read(v)
	members, err := h.Accounts.Members(v.ctx(), v.who, contract.TeamMemberList{
		TeamPath: found.Path(), Page: list.asked(), Sort: list.sorting(), Text: list.get("q"),
	})
	if err != nil {
		return team.Team{}, err
	}
	m := team.Team{
		Page: v.shell(found.Name, path, teamsCrumb(), ui.Crumb{Text: found.Name}),
		Name: found.Name,
		Role: roleBadge(found.Role),
		List: listView(list, members),
	}
	mayChange := v.who.May(found.ID, access.MemberChange)
	for _, member := range members.Items {
		m.Members = append(m.Members, v.teamMember(path, member, mayChange))
	}
	if v.who.May(found.ID, access.InvitationRead) {
		m.Invitations, err = h.invitationSection(v, path, found.Path())
	}
	return m, err
}

func (v *visit) teamMember(path string, m contract.TeamMember, mayChange bool) team.Member {
	row := team.Member{
		ID:       m.Account,
		Name:     m.Name,
		Email:    m.Email,
		Role:     roleTitle(m.Role),
		Joined:   day(m.JoinedAt),
		Self:     m.Account == v.who.Account,
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

func (h *Handler) invitationSection(v *visit, path string, at contract.TeamPath) (*team.Invitations, error) {
	list := &listing{
		path:    path,
		prefix:  "invitations_",
		section: "invitations",
		one:     "invitation",
		search:  "Email",
		orders: []listOrder{
			{by: "created", text: "Age"}, {by: "email", text: "Email"}, {by: "role", text: "Role"},
			{by: "expires", text: "End"},
		},
	}
	list.read(v)
	found, err := h.Accounts.Invitations(v.ctx(), v.who, contract.InvitationList{
		TeamPath: at, Page: list.asked(), Sort: list.sorting(), Text: list.get("q"),
	})
	m := team.Invitations{
		List:        listView(list, found),
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
			Ends:         day(i.ExpiresAt),
			RevokeAction: path + "/invitations/" + url.PathEscape(i.ID) + "/revoke",
		}
		if row.For == "" {
			row.For = "Link from " + i.CreatedAt.Format("2 January 15:04")
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
func (h *Handler) refusedTeam(v *visit, err error, mark func(*team.Team, *formErrors)) (web.Answer, error) {
	wrong, ok := teamErrors(err)
	if !ok {
		return web.Answer{}, err
	}
	m, err := h.teamPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	mark(&m, wrong)
	return web.Answer{Status: wrong.status, Page: team.TeamPage(m)}, nil
}

// teamErrors are the mistakes in err that the visitor can correct, or that the team was
// changed meanwhile.
func teamErrors(err error) (m *formErrors, ok bool) {
	if fault.KindOf(err) == fault.Stale {
		return &formErrors{status: http.StatusPreconditionFailed, public: web.ProblemOf(err, "").Detail}, true
	}
	return formErrorsIn(err)
}

func (h *Handler) saveTeamName(v *visit) (web.Answer, error) {
	in := contract.TeamUpdate{TeamPath: teamIn(v), Condition: v.condition()}
	v.fill(&in.Body, "name")
	renamed, err := h.Accounts.UpdateTeam(v.ctx(), v.who, in)
	if err == nil {
		return v.done("settings", teamSettingsPath(renamed.ID), renamed.Name)
	}
	return h.refusedTeamSettings(v, err, func(m *team.Team, wrong *formErrors) {
		m.Rename.Name = wrong.value("/name", *in.Body.Name)
		m.Rename.Error = wrong.rest()
	})
}

func (h *Handler) saveRole(v *visit) (web.Answer, error) {
	in := contract.TeamMemberUpdate{TeamMemberPath: memberIn(v), Condition: v.condition()}
	v.fill(&in.Body, "role")
	changed, err := h.Accounts.UpdateMember(v.ctx(), v.who, in)
	if err == nil {
		return v.done("role", teamPath(in.Team), changed.Name, changed.Role)
	}
	return h.refusedTeam(v, err, func(m *team.Team, wrong *formErrors) { m.Error = wrong.rest() })
}

func (h *Handler) removeMember(v *visit) (web.Answer, error) {
	if !v.asked() {
		return h.askRemoveMember(v)
	}
	_, err := h.Accounts.RemoveMember(v.ctx(), v.who, memberIn(v))
	if err == nil {
		return v.done("removed", teamPath(v.param("team")))
	}
	return h.refusedTeam(v, err, func(m *team.Team, wrong *formErrors) { m.Error = wrong.rest() })
}

func (h *Handler) leaveTeam(v *visit) (web.Answer, error) {
	err := access.Check(v.who, v.param("team"), access.MemberLeave)
	if err == nil {
		err = v.confirmed("Tick the box to leave the team.")
	}
	if err == nil {
		_, err = h.Accounts.Leave(v.ctx(), v.who, teamIn(v))
	}
	if err != nil {
		return h.refusedTeamSettings(v, err, func(m *team.Team, wrong *formErrors) { v.mark(&m.Leave, wrong) })
	}
	return v.done("left", "/teams")
}

func (h *Handler) createInvitation(v *visit) (web.Answer, error) {
	in := contract.InvitationCreation{TeamPath: teamIn(v)}
	v.fill(&in.Body, "role", "email")
	made, err := h.Accounts.Invite(v.ctx(), v.who, in)
	if err != nil {
		return h.refusedTeam(v, err, func(m *team.Team, wrong *formErrors) {
			m.Invitations.Roles = roleOptions(in.Body.Role)
			m.Invitations.Email = wrong.value("/email", in.Body.Email)
			m.Invitations.Error = wrong.rest()
		})
	}
	if made.ByMail {
		return v.done("mailed", teamPath(made.Team), made.Email)
	}
	return v.disclose(invitationPath(made.Path()), disclosed{Secret: h.Web.InviteURL(made.Code.Reveal())})
}

func invitationPath(at contract.InvitationPath) string {
	return teamPath(at.Team) + "/invitations/" + url.PathEscape(at.Invitation)
}

// showInvitationLink shows the team's page, the first time with the link of a new
// invitation.
func (h *Handler) showInvitationLink(v *visit) (web.Answer, error) {
	open, err := h.Accounts.Invitation(v.ctx(), v.who, invitationIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	m, err := h.teamPage(v)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.disclosed(invitationPath(open.Path()))
	if err != nil {
		return web.Answer{}, err
	}
	m.Invitations.LinkGone = found == nil
	if found != nil {
		m.Invitations.Link = found.Secret
	}
	return web.Show(team.TeamPage(m)), nil
}

func (h *Handler) revokeInvitation(v *visit) (web.Answer, error) {
	if !v.asked() {
		return h.askRevokeInvitation(v)
	}
	if _, err := h.Accounts.RevokeInvitation(v.ctx(), v.who, invitationIn(v)); err != nil {
		return web.Answer{}, err
	}
	return v.done("uninvited", teamPath(v.param("team")))
}

// askRemoveMember asks before a member of a team is removed.
func (h *Handler) askRemoveMember(v *visit) (web.Answer, error) {
	team, err := h.Accounts.Team(v.ctx(), v.who, teamIn(v))
	if err == nil {
		err = access.Check(v.who, team.ID, access.MemberChange)
	}
	if err != nil {
		return web.Answer{}, err
	}
	who, err := h.Accounts.Member(v.ctx(), v.who, memberIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	all, err := h.Accounts.Members(v.ctx(), v.who, contract.TeamMemberList{
		TeamPath: team.Path(), Page: contract.Page{Count: true},
	})
	if err != nil {
		return web.Answer{}, err
	}
	path := teamPath(team.ID)
	title := "Remove " + who.Name + " from " + team.Name
	return v.ask(ui.Asked{
		Page:  v.shell(title, path, teamsCrumb(), ui.Crumb{Text: team.Name, URL: path}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{
			{Label: "Email", Value: who.Email},
			{Label: "Role", Value: who.Role},
			{Label: "Joined", Value: day(who.JoinedAt)},
		},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "member",
			Name: who.Name,
			Impact: []string{
				"They immediately lose access to the team's projects, including with their access tokens. The " +
					"invitations that they created are revoked.",
				english.Plural(int(all.Total)-1, "member stays", "members stay") + ".",
			},
			Undo: "You can invite them again.",
		},
		BackURL: path,
	})
}

// askRevokeInvitation asks before an invitation is revoked.
func (h *Handler) askRevokeInvitation(v *visit) (web.Answer, error) {
	team, err := h.Accounts.Team(v.ctx(), v.who, teamIn(v))
	if err == nil {
		err = access.Check(v.who, team.ID, access.InvitationRevoke)
	}
	if err != nil {
		return web.Answer{}, err
	}
	one, err := h.Accounts.Invitation(v.ctx(), v.who, invitationIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	path := teamPath(team.ID)
	facts := []ui.Fact{{Label: "Role", Value: one.Role}, {Label: "Works until", Value: moment(one.ExpiresAt)}}
	if one.Email != "" {
		facts = append([]ui.Fact{{Label: "For", Value: one.Email}}, facts...)
	}
	return v.ask(ui.Asked{
		Page: v.shell("Revoke an invitation", path, teamsCrumb(), ui.Crumb{Text: team.Name, URL: path},
			ui.Crumb{Text: "Revoke an invitation"}),
		Title: "Revoke an invitation to " + team.Name,
		Facts: facts,
		Confirm: ui.Confirmation{
			Verb:   "Revoke",
			Kind:   "invitation",
			Impact: []string{"Its link hasn't been used yet, and stops working immediately."},
			Undo:   "You can create another.",
		},
		BackURL: path,
	})
}
