package pages

import (
	"slices"
	"strconv"

	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/directory"
	"postern/views/ui"
)

// asked reports whether a form of a list has come from the page that asks for a tick.
func (v *visit) asked() bool { return v.posted("confirm") == "true" }

// ask answers a form of a list with the page that asks for a tick. The form of that page has
// the same address.
func (v *visit) ask(m ui.Asked) (web.Answer, error) {
	m.Confirm.ID, m.Confirm.Action = "asked-confirm", v.c.Request.URL.EscapedPath()
	return web.Show(ui.AskedPage(m)), nil
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

// askRemoveGroupMember asks before a user leaves a group.
func (h *Handler) askRemoveGroupMember(v *visit, user contract.User) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	title := "Remove " + userTitle(user) + " from " + g.DisplayName
	m := ui.Asked{
		Page: v.tenantShell(t, title, groupPath(g.ID), ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)},
			ui.Crumb{Text: g.DisplayName, URL: groupPath(g.ID)}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{
			{Label: "User", Value: user.Email},
			{Label: "State", Value: user.State},
			{Label: "Direct members", Value: strconv.FormatInt(g.Members, 10)},
		},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "member",
			Name: userTitle(user),
			Impact: []string{
				"Starting with the next call, they lose access to routes that require the group " + g.Name +
					", unless one of its nested groups includes them.",
			},
			Undo: "You can add them again.",
		},
		BackURL: groupPath(g.ID),
	}
	if v.posted("from") == "user" {
		m.BackURL = userPath(user.ID)
		m.Confirm.Hidden = []ui.Hidden{{Name: "from", Value: "user"}}
	}
	return v.ask(m)
}

// approvalOf finds the approval in the address.
func (h *Handler) approvalOf(v *visit) (directory.Approval, error) {
	entry, err := h.Directory.Entry(v.ctx(), v.who, v.param("tenant"))
	if err != nil {
		return directory.Approval{}, err
	}
	i := slices.IndexFunc(entry.Approvals, func(a directory.Approval) bool { return a.ID == v.param("approval") })
	if i < 0 {
		return directory.Approval{}, access.NotFound()
	}
	return entry.Approvals[i], nil
}

// askEndApproval asks before an approval is removed.
func (h *Handler) askEndApproval(v *visit, one directory.Approval) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	whose := "The address " + one.Value
	if one.Kind != directory.ByEmail {
		whose = "Addresses of " + one.Value
	}
	return v.ask(ui.Asked{
		Page:  v.tenantShell(t, "Remove an approval", entryPath(t.ID), ui.Crumb{Text: "Entry", URL: entryPath(t.ID)}),
		Title: "Remove the approval of " + one.Value,
		Facts: []ui.Fact{{Label: "Approved", Value: one.Value}, {Label: "Since", Value: day(one.CreatedAt)}},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "approval",
			Name: one.Value,
			Impact: []string{
				whose + " can't join anymore while sign-up is by invitation only. Users who signed in with it stay.",
			},
			Undo: "You can approve it again.",
		},
		BackURL: entryPath(t.ID),
	})
}

// askUnnestGroup asks before a group is removed from another.
func (h *Handler) askUnnestGroup(v *visit) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(g.Children, func(one contract.NestedGroup) bool { return one.ID == v.param("child") })
	if i < 0 {
		return web.Answer{}, access.NotFound()
	}
	child, err := h.Directory.Group(v.ctx(), v.who, contract.GroupPath{Group: g.Children[i].ID})
	if err != nil {
		return web.Answer{}, err
	}
	title := "Remove " + child.DisplayName + " from " + g.DisplayName
	return v.ask(ui.Asked{
		Page: v.tenantShell(t, title, groupPath(g.ID), ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)},
			ui.Crumb{Text: g.DisplayName, URL: groupPath(g.ID)}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{
			{Label: "Nested group", Value: child.Name},
			{Label: "Direct members", Value: strconv.FormatInt(child.Members, 10)},
		},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "nested group",
			Impact: []string{
				"Starting with the next call, members of " + child.Name + " lose access to routes that require the " +
					"group " + g.Name + ", unless they are in it in another way.",
				child.DisplayName + " keeps its members.",
			},
			Undo:     "You can add it again.",
			ByButton: true,
		},
		BackURL: groupPath(g.ID) + "#children",
	})
}
