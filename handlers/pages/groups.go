package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/directory"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

func groupsPath(tenant string) string { return tenantPath(tenant) + "/groups" }

func groupPath(id string) string { return "/groups/" + url.PathEscape(id) }

// groupForm is a group's form with a change in it.
func groupForm(action, revision string, in contract.GroupChange, wrong *formErrors) *tenants.GroupForm {
	m := &tenants.GroupForm{
		Open:        wrong.status != 0,
		Action:      action,
		Revision:    revision,
		Name:        wrong.value("/name", *in.Name),
		DisplayName: wrong.value("/display_name", *in.DisplayName),
	}
	m.Error = wrong.rest()
	return m
}

func (h *Handler) showGroups(v *visit) (web.Answer, error) {
	return h.groupListWith(v, contract.NewGroup{}, &formErrors{})
}

// groupListWith shows a tenant's groups, with the form as typed.
func (h *Handler) groupListWith(v *visit, typed contract.NewGroup, wrong *formErrors) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := groupsPath(t.ID)
	list := &listing{
		path:   path,
		one:    "group",
		search: "Name",
		orders: []listOrder{{by: "name", text: "Name"}, {by: "created", text: "Age", desc: true}},
	}
	list.read(v)
	page, err := h.Directory.Groups(v.ctx(), v.who, contract.GroupList{
		TenantPath: contract.TenantPath{Tenant: t.ID}, Page: list.asked(), Sort: list.sorting(), Text: list.get("q"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Groups{
		Page: v.tenantShell(t, "Groups", path, ui.Crumb{Text: "Groups"}),
		Head: tenantHead(t, path),
		List: listView(list, page),
	}
	for _, g := range page.Items {
		m.Rows = append(m.Rows, tenants.GroupRow{URL: groupPath(g.ID), Name: g.Name, DisplayName: g.DisplayName,
			Members: humanize.Comma(g.Members) + " " + english.PluralWord(int(g.Members), "user", "")})
	}
	if v.who.May(t.Team, access.UserUpdate) {
		change := contract.GroupChange{Name: &typed.Name, DisplayName: &typed.DisplayName}
		m.Create = groupForm(path, "", change, wrong)
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: tenants.GroupsPage(m)}, nil
}

func (h *Handler) createGroup(v *visit) (web.Answer, error) {
	in := contract.GroupCreation{TenantPath: contract.TenantPath{Tenant: v.param("tenant")}}
	v.fill(&in.Body, "name", "display_name")
	made, err := h.Directory.CreateGroup(v.ctx(), v.who, in)
	if wrong, ok := formErrorsIn(err); ok {
		return h.groupListWith(v, in.Body, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("group_made", groupPath(made.ID), made.DisplayName)
}

// groupIn is the group in the address.
func groupIn(v *visit) contract.GroupPath { return contract.GroupPath{Group: v.param("group")} }

// groupOf finds the group in the address and its tenant.
func (h *Handler) groupOf(v *visit) (contract.Group, contract.Tenant, error) {
	g, err := h.Directory.Group(v.ctx(), v.who, groupIn(v))
	if err != nil {
		return g, contract.Tenant{}, err
	}
	t, err := h.Projects.Tenant(v.ctx(), v.who, contract.TenantPath{Tenant: g.Tenant})
	return g, t, err
}

func (h *Handler) showGroup(v *visit) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.groupWith(v, g, t, func(*tenants.Group) {}, http.StatusOK)
}

// groupWith shows a group's page with what mark adds to it.
func (h *Handler) groupWith(
	v *visit, g contract.Group, t contract.Tenant, mark func(*tenants.Group), status int,
) (web.Answer, error) {
	path := groupPath(g.ID)
	list := &listing{
		path:   path,
		one:    "member",
		search: "Email or name",
		orders: []listOrder{{by: "name", text: "Name"}, {by: "role", text: "Role"}},
	}
	list.read(v)
	page, err := h.Directory.Members(v.ctx(), v.who, contract.GroupMemberList{
		GroupPath: g.Path(), Page: list.asked(), Sort: list.sorting(), Text: list.get("q"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Group{
		Page: v.tenantShell(
			t, g.DisplayName, path, ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)}, ui.Crumb{Text: g.DisplayName},
		),
		Name:        g.Name,
		DisplayName: g.DisplayName,
		List:        listView(list, page),
	}
	mayChange := v.who.May(t.Team, access.UserUpdate)
	for _, one := range page.Items {
		m.Members = append(m.Members, memberOf(path, one, mayChange))
	}
	for _, parent := range g.Parents {
		m.Parents = append(m.Parents, ui.Link{URL: groupPath(parent.ID), Text: parent.DisplayName})
	}
	for _, child := range g.Children {
		row := tenants.Nested{URL: groupPath(child.ID), Text: child.DisplayName}
		if mayChange {
			row.RemoveAction = path + "/children/" + child.ID + "/remove"
		}
		m.Children = append(m.Children, row)
	}
	if mayChange {
		err = h.groupForms(v, &m, g)
	}
	mark(&m)
	return web.Answer{Status: status, Page: tenants.GroupPage(m)}, err
}

func memberOf(path string, one contract.GroupMember, mayChange bool) tenants.Member {
	row := tenants.Member{
		ID:    one.User,
		URL:   userPath(one.User),
		Title: userTitle(contract.User{ID: one.User, Name: one.Name, Email: one.Email}),
		Email: one.Email,
		State: userBadge(one.State),
		Role:  one.Role,
	}
	if mayChange {
		row.RemoveAction = path + "/members/" + one.User + "/remove"
	}
	return row
}

// groupForms adds the forms that require the permission to change groups.
func (h *Handler) groupForms(v *visit, m *tenants.Group, g contract.Group) error {
	path := groupPath(g.ID)
	m.Add = &tenants.AddMember{Action: path + "/members"}
	now := contract.GroupChange{Name: &g.Name, DisplayName: &g.DisplayName}
	m.Change = groupForm(path, g.ETag, now, &formErrors{})
	m.Delete = &ui.Confirmation{
		ID:     "delete-confirm",
		Action: path + "/delete",
		Verb:   "Delete",
		Kind:   "group",
		Name:   g.DisplayName,
		Impact: []string{
			"Starting with the next call, its " + countText(g.Members, "direct member") + " and those of its " +
				countText(int64(len(g.Children)), "nested group") + " lose access to routes that require the group.",
			"The users and the nested groups stay.",
		},
	}
	options, err := h.groupOptions(v, g.Tenant)
	options = slices.DeleteFunc(options, func(o ui.Option) bool {
		return o.Value == g.ID ||
			slices.ContainsFunc(g.Children, func(child contract.NestedGroup) bool { return child.ID == o.Value })
	})
	if len(options) > 0 {
		m.Nest = &tenants.Nest{Action: path + "/children", Groups: options}
	}
	return err
}

func (h *Handler) saveGroup(v *visit) (web.Answer, error) {
	in := contract.GroupUpdate{GroupPath: groupIn(v), Condition: contract.Condition{IfMatch: v.posted("revision")}}
	v.fill(&in.Body, "name", "display_name")
	g, err := h.Directory.UpdateGroup(v.ctx(), v.who, in)
	if err == nil {
		return v.done("group", groupPath(g.ID), g.DisplayName)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.groupConflict(v, in.Body)
	}
	return h.refusedGroup(v, err, func(m *tenants.Group, wrong *formErrors) {
		if m.Change != nil {
			m.Change = groupForm(m.Change.Action, in.IfMatch, in.Body, wrong)
		}
	})
}

// refusedGroup shows the group's page as it is now, with what mark adds to it.
func (h *Handler) refusedGroup(v *visit, err error, mark func(*tenants.Group, *formErrors)) (web.Answer, error) {
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return h.groupWith(v, g, t, func(m *tenants.Group) { mark(m, wrong) }, wrong.status)
}

// groupConflict shows what was saved meanwhile beside what was typed.
func (h *Handler) groupConflict(v *visit, mine contract.GroupChange) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := groupPath(g.ID)
	m := projects.Conflict{
		Page:    v.tenantShell(t, "Changed since you opened it", path, ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)}),
		BackURL: path,
		Action:  path,
		What:    "The group " + g.Name,
		Rows: []projects.Difference{
			{Label: "Name", Theirs: g.Name, Yours: *mine.Name},
			{Label: "Display name", Theirs: g.DisplayName, Yours: *mine.DisplayName},
		},
		Hidden: []projects.Pair{
			{Name: "revision", Value: g.ETag},
			{Name: "name", Value: *mine.Name},
			{Name: "display_name", Value: *mine.DisplayName},
		},
	}
	return web.Answer{Status: http.StatusPreconditionFailed, Page: projects.ConflictPage(m)}, nil
}

func (h *Handler) deleteGroup(v *visit) (web.Answer, error) {
	if err := v.confirmed("Tick the box to delete the group."); err != nil {
		return h.refusedGroup(v, err, func(m *tenants.Group, wrong *formErrors) { m.Delete.Error = wrong.rest() })
	}
	g, err := h.Directory.Group(v.ctx(), v.who, groupIn(v))
	if err == nil {
		_, err = h.Directory.DeleteGroup(v.ctx(), v.who, g.Path())
	}
	if err != nil {
		return h.refusedGroup(v, err, func(m *tenants.Group, wrong *formErrors) { m.Delete.Error = wrong.rest() })
	}
	return v.done("group_gone", groupsPath(g.Tenant), g.DisplayName)
}

// addGroupMember adds the user with the typed address to the group.
func (h *Handler) addGroupMember(v *visit) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	email := strings.TrimSpace(v.posted("email"))
	user, err := h.userWithAddress(v, t.ID, email)
	if err == nil {
		_, err = h.Directory.SetMember(v.ctx(), v.who, contract.InGroup(g.ID, user).As(directory.RoleMember))
	}
	if err == nil {
		return v.done("member", groupPath(g.ID), email, g.DisplayName)
	}
	return h.refusedGroup(v, err, func(m *tenants.Group, wrong *formErrors) {
		m.Add.Email = wrong.value("/email", email)
		m.Add.Error = wrong.rest()
	})
}

func (h *Handler) userWithAddress(v *visit, tenant, email string) (string, error) {
	if email == "" {
		return "", fault.InvalidField("/email", "required", "Enter the address of a user of this tenant.")
	}
	page, err := h.Directory.Users(v.ctx(), v.who, contract.UserList{
		TenantPath: contract.TenantPath{Tenant: tenant}, Page: contract.Page{Limit: 2}, Email: email,
	})
	switch {
	case err != nil:
		return "", err
	case len(page.Items) == 0:
		return "", fault.InvalidField("/email", "unknown_user", "No user of this tenant has this address. First "+
			"invite the user under Users.")
	case len(page.Items) > 1:
		return "", fault.InvalidField("/email", "ambiguous_user", "Several users have this address. Add the right "+
			"one to the group on their own page.")
	}
	return page.Items[0].ID, nil
}

func (h *Handler) removeGroupMember(v *visit) (web.Answer, error) {
	user, err := h.Directory.User(v.ctx(), v.who, userIn(v))
	if err == nil && !v.asked() {
		return h.askRemoveGroupMember(v, user)
	}
	if err == nil {
		_, err = h.Directory.RemoveMember(v.ctx(), v.who, contract.InGroup(v.param("group"), user.ID))
	}
	if err != nil {
		return web.Answer{}, err
	}
	path := groupPath(v.param("group"))
	if v.posted("from") == "user" {
		path = userPath(user.ID) + "#groups"
	}
	return v.done("member_gone", path, userTitle(user))
}

func (h *Handler) nestGroup(v *visit) (web.Answer, error) {
	g, err := h.Directory.Nest(v.ctx(), v.who, contract.Nested(v.param("group"), v.posted("child")))
	if err == nil {
		return v.done("nested", groupPath(g.ID)+"#children", nestedName(g, v.posted("child")))
	}
	return h.refusedGroup(v, err, func(m *tenants.Group, wrong *formErrors) {
		if m.Nest != nil {
			m.Nest.Error = wrong.rest()
			choose(m.Nest.Groups, v.posted("child"))
		}
	})
}

func (h *Handler) unnestGroup(v *visit) (web.Answer, error) {
	if !v.asked() {
		return h.askUnnestGroup(v)
	}
	g, err := h.Directory.Group(v.ctx(), v.who, groupIn(v))
	if err == nil {
		_, err = h.Directory.Unnest(v.ctx(), v.who, contract.Nested(g.ID, v.param("child")))
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("unnested", groupPath(g.ID)+"#children", nestedName(g, v.param("child")))
}

// nestedName is the display name of a group that is in g.
func nestedName(g contract.Group, child string) string {
	i := slices.IndexFunc(g.Children, func(one contract.NestedGroup) bool { return one.ID == child })
	if i < 0 {
		return child
	}
	return g.Children[i].DisplayName
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
