package tenants

import (
	"cmp"
	"net/http"
	"slices"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/federation"
	"postern/service/access"
	"postern/service/directory"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

// userIn is the user in the address.
func userIn(v *page.Visit) contract.UserPath { return contract.UserPath{User: v.Param("user")} }

// userOf finds the user in the address and their tenant.
func (h *Handler) userOf(v *page.Visit) (contract.User, contract.Tenant, error) {
	u, err := h.Directory.User(v.Ctx(), v.Who, userIn(v))
	if err != nil {
		return u, contract.Tenant{}, err
	}
	t, err := h.Projects.Tenant(v.Ctx(), v.Who, contract.TenantPath{Tenant: u.Tenant})
	return u, t, err
}

func (h *Handler) showUser(v *page.Visit) (web.Answer, error) {
	u, t, err := h.userOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.userWith(v, u, t, func(*tenants.User) {}, http.StatusOK)
}

// refusedUser shows the user's page as it is now, with what mark adds to it.
func (h *Handler) refusedUser(v *page.Visit, err error, mark func(*tenants.User, *page.Errors)) (web.Answer, error) {
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	u, t, err := h.userOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return h.userWith(v, u, t, func(m *tenants.User) { mark(m, wrong) }, wrong.Status)
}

// userWith shows a user's page with what mark adds to it.
func (h *Handler) userWith(
	v *page.Visit, u contract.User, t contract.Tenant, mark func(*tenants.User), status int,
) (web.Answer, error) {
	lastActive, err := h.Usage.Seen(v.Ctx(), v.Who, t.Projects, []string{u.ID})
	if err != nil {
		return web.Answer{}, err
	}
	path := page.UserPath(u.ID)
	m := tenants.User{
		Page: h.tenantShell(v,
			t, userTitle(u), path, ui.Crumb{Text: "Users", URL: usersPath(t.ID)},
			ui.Crumb{Text: userTitle(u)},
		),
		Title: userTitle(u),
		State: userBadge(u.State),
		Facts: append(userFacts(u), lastCallFact(lastActive[u.ID])),
	}
	for _, one := range u.Identities {
		m.Identities = append(m.Identities, tenants.Identity{
			Issuer:  one.Issuer,
			Subject: one.Subject,
			Since:   one.Since,
		})
	}
	mayChange := v.Who.May(t.Team, access.UserUpdate)
	for _, g := range u.Groups {
		row := tenants.Membership{
			ID:          g.ID,
			URL:         groupPath(g.ID),
			Name:        g.Name,
			DisplayName: g.DisplayName,
		}
		if g.IsDirect() {
			row.Role = *g.Role
		}
		if mayChange && g.IsDirect() {
			row.LeaveAction = groupPath(g.ID) + "/members/" + u.ID + "/remove"
		}
		m.Groups = append(m.Groups, row)
	}
	if err := h.signInsOf(v, &m, u.ID, mayChange); err != nil {
		return web.Answer{}, err
	}
	if mayChange {
		err = h.userForms(v, &m, u, t)
	}
	mark(&m)
	return web.Answer{Status: status, Page: tenants.UserPage(m)}, err
}

func userFacts(u contract.User) []ui.Fact {
	email := cmp.Or(u.Email, "none")
	if u.Email != "" && !u.EmailVerified {
		email += " (not confirmed by a provider)"
	}
	facts := []ui.Fact{{Label: "Email", Value: email}, {Label: "ID", Value: u.ID, Mono: true, Copy: "user-id"}}
	if u.UserName != "" {
		facts = append(facts, ui.Fact{Label: "User name", Value: u.UserName})
	}
	if u.Profile != nil {
		for _, claim := range (*federation.Profile)(u.Profile).Texts() {
			if *claim.Text != "" {
				facts = append(facts, ui.Fact{Label: "Provider's " + claim.Name, Value: *claim.Text})
			}
		}
	}
	return append(
		facts, ui.Fact{Label: "Created", Time: u.CreatedAt},
		page.TimeFact("Last sign-in", u.LastLoginAt),
	)
}

// userForms adds the forms that require the permission to change users.
func (h *Handler) userForms(v *page.Visit, m *tenants.User, u contract.User, t contract.Tenant) error {
	path := page.UserPath(u.ID)
	m.Change = &tenants.UserChange{
		Action:   path,
		Revision: u.ETag,
		Email:    ui.Value{Text: u.Email},
		Name:     ui.Value{Text: u.Name},
	}
	if m.FreezeAction = path + "/freeze"; u.State == directory.Frozen {
		m.FreezeAction, m.UnfreezeAction = "", path+"/unfreeze"
	}
	if err := h.userInvitationForm(v, m, u, t); err != nil {
		return err
	}
	m.Delete = &ui.Confirmation{
		ID:     "delete-confirm",
		Action: path + "/delete",
		Verb:   "Delete",
		Kind:   "user",
		Name:   userTitle(u),
		Impact: []string{userDeletionText(len(m.Sessions), len(u.Groups))},
		Undo:   "This can't be undone. Unless sign-up is by invitation only, the user can sign in again as a new user.",
	}
	options, err := h.groupOptions(v, u.Tenant)
	isMember := func(o ui.Option) bool {
		return slices.ContainsFunc(u.Groups, func(g contract.UserGroup) bool {
			return g.ID == o.Value && g.IsDirect()
		})
	}
	options = slices.DeleteFunc(options, isMember)
	if len(options) > 0 {
		m.Join = &tenants.Join{Action: path + "/groups", Groups: options}
	}
	return err
}

// saveUser changes the address only if another one was typed: a user whose provider tells
// none is saved without one.
func (h *Handler) saveUser(v *page.Visit) (web.Answer, error) {
	u, err := h.Directory.User(v.Ctx(), v.Who, userIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	in := contract.UserUpdate{UserPath: u.Path(), Condition: contract.Condition{IfMatch: v.Posted("revision")}}
	v.Fill(&in.Body, "name", "email")
	name, email := *in.Body.Name, *in.Body.Email
	if email == u.Email {
		in.Body.Email = nil
	}
	_, err = h.Directory.UpdateUser(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("user", page.UserPath(u.ID), userTitle(u))
	}
	if fault.KindOf(err) == fault.Stale {
		return h.userConflict(v, name, email)
	}
	return h.refusedUser(v, err, func(m *tenants.User, wrong *page.Errors) {
		if m.Change != nil {
			m.Change.Revision = in.IfMatch
			m.Change.Name, m.Change.Email = wrong.Value("/name", name), wrong.Value("/email", email)
			m.Change.Error = wrong.Rest()
		}
	})
}

// userConflict shows what was saved since next to what was typed.
func (h *Handler) userConflict(v *page.Visit, name, email string) (web.Answer, error) {
	u, t, err := h.userOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := page.UserPath(u.ID)
	m := projects.Conflict{
		Page: h.tenantShell(v, t, "Changed since you opened this page", path,
			ui.Crumb{Text: "Users", URL: usersPath(t.ID)}),
		BackURL: path,
		Action:  path,
		What:    "The user " + userTitle(u),
		Rows: []projects.Difference{
			{Label: "Name", Theirs: page.TextOrNone(u.Name), Yours: page.TextOrNone(name)},
			{Label: "Email", Theirs: page.TextOrNone(u.Email), Yours: page.TextOrNone(email)},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: u.ETag},
			{Name: "name", Value: name},
			{Name: "email", Value: email},
		},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

func (h *Handler) freezeUser(v *page.Visit) (web.Answer, error) {
	u, err := h.Directory.Freeze(v.Ctx(), v.Who, userIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return v.DoneUndo("user_frozen", page.UserPath(u.ID), page.UserPath(u.ID)+"/unfreeze", userTitle(u))
}

func (h *Handler) unfreezeUser(v *page.Visit) (web.Answer, error) {
	u, err := h.Directory.Unfreeze(v.Ctx(), v.Who, userIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return v.DoneUndo("user_thawed", page.UserPath(u.ID), page.UserPath(u.ID)+"/freeze", userTitle(u))
}

func (h *Handler) deleteUser(v *page.Visit) (web.Answer, error) {
	if err := v.Confirmed("Check the box to delete the user."); err != nil {
		return h.refusedUser(v, err, func(m *tenants.User, wrong *page.Errors) { m.Delete.Error = wrong.Rest() })
	}
	u, err := h.Directory.User(v.Ctx(), v.Who, userIn(v))
	if err == nil {
		_, err = h.Directory.DeleteUser(v.Ctx(), v.Who, u.Path())
	}
	if err != nil {
		return h.refusedUser(v, err, func(m *tenants.User, wrong *page.Errors) { m.Delete.Error = wrong.Rest() })
	}
	return v.Done("user_gone", usersPath(u.Tenant), userTitle(u))
}

// joinGroup adds the user to a group.
func (h *Handler) joinGroup(v *page.Visit) (web.Answer, error) {
	u, t, err := h.userOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate) // before the group is looked for
	}
	var g contract.Group
	if err == nil {
		in := contract.InGroup(v.Posted("group"), u.ID).As(directory.RoleMember)
		g, err = h.Directory.SetMember(v.Ctx(), v.Who, in)
	}
	if err != nil {
		return h.refusedUser(v, err, func(m *tenants.User, wrong *page.Errors) { m.Error = wrong.Rest() })
	}
	return v.Done("member", page.UserPath(u.ID)+"#groups", userTitle(u), g.DisplayName)
}

func userInvitationPath(user string) string { return page.UserPath(user) + "/invitation" }

// userInvitationForm adds the form that creates an invitation link. A tenant without app clients has no page that
// the link could lead to: then it adds the pages that create one.
func (h *Handler) userInvitationForm(v *page.Visit, m *tenants.User, u contract.User, t contract.Tenant) error {
	if u.State != directory.Invited || len(u.Identities) > 0 {
		return nil
	}
	clients, err := h.AppClients.Clients(v.Ctx(), v.Who, contract.AppClientList{
		TenantPath: contract.TenantPath{Tenant: u.Tenant}, Page: contract.Page{Limit: models.MaxLimit},
	})
	if err != nil {
		return err
	}
	m.Invitation = &tenants.Invitation{Action: userInvitationPath(u.ID)}
	if len(clients.Items) == 0 {
		m.Invitation.Setup = clientSetup(t)
	}
	for _, one := range clients.Items {
		m.Invitation.Clients = append(m.Invitation.Clients, ui.Option{Value: one.ID, Title: one.Name})
	}
	return nil
}

// clientSetup returns links to the pages that create an app client of a tenant: those of its projects, or its own if no
// project serves it yet.
func clientSetup(t contract.Tenant) []ui.Link {
	if len(t.Projects) == 0 {
		return []ui.Link{{Text: "Attach the tenant to a project first", URL: page.TenantPath(t.ID) + "#served"}}
	}
	var links []ui.Link
	for _, name := range t.Projects[:min(len(t.Projects), mostSetupLinks)] {
		links = append(links, ui.Link{Text: "Create an app client in " + name, URL: page.ProjectPath(name) + "/login"})
	}
	return links
}

// mostSetupLinks bounds the links: any project will do.
const mostSetupLinks = 5

func (h *Handler) createUserInvitation(v *page.Visit) (web.Answer, error) {
	in := contract.UserInvitationCreation{UserPath: userIn(v)}
	v.Fill(&in.Body, "app_client")
	made, err := h.Login.InviteUser(v.Ctx(), v.Who, in)
	if err != nil {
		return h.refusedUser(v, err, func(m *tenants.User, wrong *page.Errors) { m.Error = wrong.Rest() })
	}
	return v.Disclose(userInvitationPath(in.User), page.Disclosed{Secret: made.URL.Reveal()})
}

// showUserInvitation shows the user's page, the first time with a new invitation link.
func (h *Handler) showUserInvitation(v *page.Visit) (web.Answer, error) {
	u, t, err := h.userOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.Disclosed(userInvitationPath(u.ID))
	if err != nil {
		return web.Answer{}, err
	}
	return h.userWith(v, u, t, func(m *tenants.User) {
		if m.Invitation == nil {
			return
		}
		m.Invitation.LinkGone = found == nil
		if found != nil {
			m.Invitation.Link = found.Secret
		}
	}, http.StatusOK)
}
