package tenants

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/directory"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

func groupsPath(tenant string) string { return page.TenantPath(tenant) + "/groups" }

func groupPath(id string) string { return "/groups/" + url.PathEscape(id) }

// groupForm is a group's form with a change in it.
func groupForm(action, revision string, in contract.GroupChange, wrong *page.Errors) *tenants.GroupForm {
	m := &tenants.GroupForm{
		Open:        wrong.Status != 0,
		Action:      action,
		Revision:    revision,
		Name:        wrong.Value("/name", *in.Name),
		DisplayName: wrong.Value("/display_name", *in.DisplayName),
	}
	m.Error = wrong.Rest()
	return m
}

func (h *Handler) showGroups(v *page.Visit) (web.Answer, error) {
	return h.groupListWith(v, contract.NewGroup{}, &page.Errors{})
}

// groupListWith shows a tenant's groups, with the form as typed.
func (h *Handler) groupListWith(v *page.Visit, typed contract.NewGroup, wrong *page.Errors) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := groupsPath(t.ID)
	list := &page.Listing{
		Path:   path,
		One:    "group",
		Search: "Name",
		Orders: []page.ListOrder{{By: "name", Text: "Name"}, {By: "created", Text: "Created", Desc: true}},
	}
	list.Read(v)
	shown, err := h.Directory.Groups(v.Ctx(), v.Who, contract.GroupList{
		TenantPath: contract.TenantPath{Tenant: t.ID}, Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Groups{
		Page: h.tenantShell(v, t, "Groups", path, ui.Crumb{Text: "Groups"}),
		Head: tenantHead(t, path),
		List: page.ListView(list, shown),
	}
	for _, g := range shown.Items {
		m.Rows = append(m.Rows, tenants.GroupRow{URL: groupPath(g.ID), Name: g.Name, DisplayName: g.DisplayName,
			Members: membersText(g)})
	}
	if v.Who.May(t.Team, access.UserUpdate) {
		change := contract.GroupChange{Name: &typed.Name, DisplayName: &typed.DisplayName}
		m.Create = groupForm(path, "", change, wrong)
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: tenants.GroupsPage(m)}, nil
}

// membersText counts the users and, if it has any, the apps that are directly in a group.
func membersText(g contract.Group) string {
	text := humanize.Comma(g.Members) + " " + english.PluralWord(int(g.Members), "user", "")
	if g.Owners > 0 {
		text += ", " + page.CountText(g.Owners, "app")
	}
	return text
}

func (h *Handler) createGroup(v *page.Visit) (web.Answer, error) {
	in := contract.GroupCreation{TenantPath: contract.TenantPath{Tenant: v.Param("tenant")}}
	v.Fill(&in.Body, "name", "display_name")
	made, err := h.Directory.CreateGroup(v.Ctx(), v.Who, in)
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.groupListWith(v, in.Body, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("group_made", groupPath(made.ID), made.DisplayName)
}

// groupIn is the group in the address.
func groupIn(v *page.Visit) contract.GroupPath { return contract.GroupPath{Group: v.Param("group")} }

// groupOf finds the group in the address and its tenant.
func (h *Handler) groupOf(v *page.Visit) (contract.Group, contract.Tenant, error) {
	g, err := h.Directory.Group(v.Ctx(), v.Who, groupIn(v))
	if err != nil {
		return g, contract.Tenant{}, err
	}
	t, err := h.Projects.Tenant(v.Ctx(), v.Who, contract.TenantPath{Tenant: g.Tenant})
	return g, t, err
}

func (h *Handler) showGroup(v *page.Visit) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	return h.groupWith(v, g, t, func(*tenants.Group) {}, http.StatusOK)
}

// groupWith shows a group's page with what mark adds to it.
func (h *Handler) groupWith(
	v *page.Visit, g contract.Group, t contract.Tenant, mark func(*tenants.Group), status int,
) (web.Answer, error) {
	path := groupPath(g.ID)
	list := &page.Listing{
		Path:   path,
		One:    "member",
		Search: "Email or name",
		Orders: []page.ListOrder{{By: "name", Text: "Name"}, {By: "role", Text: "Role"}},
	}
	list.Read(v)
	shown, err := h.Directory.Members(v.Ctx(), v.Who, contract.GroupMemberList{
		GroupPath: g.Path(), Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Group{
		Page: h.tenantShell(v,
			t, g.DisplayName, path, ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)}, ui.Crumb{Text: g.DisplayName},
		),
		Name:        g.Name,
		DisplayName: g.DisplayName,
		List:        page.ListView(list, shown),
	}
	mayChange := v.Who.May(t.Team, access.UserUpdate)
	for _, one := range shown.Items {
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
	if err := h.ownersOf(v, &m, g, mayChange); err != nil {
		return web.Answer{}, err
	}
	if mayChange {
		err = h.groupForms(v, &m, g)
	}
	mark(&m)
	return web.Answer{Status: status, Page: tenants.GroupPage(m)}, err
}

func memberOf(path string, one contract.GroupMember, mayChange bool) tenants.Member {
	row := tenants.Member{
		ID:  one.User,
		URL: page.UserPath(one.User),
		Title: userTitle(contract.User{
			UserRecord: contract.UserRecord{ID: one.User, Name: one.Name, Email: one.Email},
		}),
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
func (h *Handler) groupForms(v *page.Visit, m *tenants.Group, g contract.Group) error {
	path := groupPath(g.ID)
	m.Add = &tenants.AddMember{Action: path + "/members"}
	now := contract.GroupChange{Name: &g.Name, DisplayName: &g.DisplayName}
	m.Change = groupForm(path, g.ETag, now, &page.Errors{})
	m.Delete = &ui.Confirmation{
		ID:     "delete-confirm",
		Action: path + "/delete",
		Verb:   "Delete",
		Kind:   "group",
		Name:   g.DisplayName,
		Impact: []string{
			groupDeletionText(g),
			"Users, keys and nested groups won't be deleted.",
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

func (h *Handler) saveGroup(v *page.Visit) (web.Answer, error) {
	in := contract.GroupUpdate{GroupPath: groupIn(v), Condition: contract.Condition{IfMatch: v.Posted("revision")}}
	v.Fill(&in.Body, "name", "display_name")
	g, err := h.Directory.UpdateGroup(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("group", groupPath(g.ID), g.DisplayName)
	}
	if fault.KindOf(err) == fault.Stale {
		return h.groupConflict(v, in.Body)
	}
	return h.refusedGroup(v, err, func(m *tenants.Group, wrong *page.Errors) {
		if m.Change != nil {
			m.Change = groupForm(m.Change.Action, in.IfMatch, in.Body, wrong)
		}
	})
}

// refusedGroup shows the group's page as it is now, with what mark adds to it.
func (h *Handler) refusedGroup(v *page.Visit, err error, mark func(*tenants.Group, *page.Errors)) (web.Answer, error) {
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return h.groupWith(v, g, t, func(m *tenants.Group) { mark(m, wrong) }, wrong.Status)
}

// groupConflict shows what was saved since next to what was typed.
func (h *Handler) groupConflict(v *page.Visit, mine contract.GroupChange) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := groupPath(g.ID)
	m := projects.Conflict{
		Page: h.tenantShell(
			v,
			t,
			"Changed since you opened this page",
			path,
			ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)},
		),
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

func (h *Handler) deleteGroup(v *page.Visit) (web.Answer, error) {
	if err := v.Confirmed("Check the box to delete the group."); err != nil {
		return h.refusedGroup(v, err, func(m *tenants.Group, wrong *page.Errors) { m.Delete.Error = wrong.Rest() })
	}
	g, err := h.Directory.Group(v.Ctx(), v.Who, groupIn(v))
	if err == nil {
		_, err = h.Directory.DeleteGroup(v.Ctx(), v.Who, g.Path())
	}
	if err != nil {
		return h.refusedGroup(v, err, func(m *tenants.Group, wrong *page.Errors) { m.Delete.Error = wrong.Rest() })
	}
	return v.Done("group_gone", groupsPath(g.Tenant), g.DisplayName)
}

// addGroupMember adds the user with the typed address to the group.
func (h *Handler) addGroupMember(v *page.Visit) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	email := strings.TrimSpace(v.Posted("email"))
	user, err := h.userWithAddress(v, t.ID, email)
	if err == nil {
		_, err = h.Directory.SetMember(v.Ctx(), v.Who, contract.InGroup(g.ID, user).As(directory.RoleMember))
	}
	if err == nil {
		return v.Done("member", groupPath(g.ID), email, g.DisplayName)
	}
	return h.refusedGroup(v, err, func(m *tenants.Group, wrong *page.Errors) {
		m.Add.Email = wrong.Value("/email", email)
		m.Add.Error = wrong.Rest()
	})
}

func (h *Handler) userWithAddress(v *page.Visit, tenant, email string) (string, error) {
	if email == "" {
		return "", fault.InvalidField("/email", "required", "Enter the email address of a user in this tenant.")
	}
	page, err := h.Directory.Users(v.Ctx(), v.Who, contract.UserList{
		TenantPath: contract.TenantPath{Tenant: tenant}, Page: contract.Page{Limit: 2}, Email: email,
	})
	switch {
	case err != nil:
		return "", err
	case len(page.Items) == 0:
		return "", fault.InvalidField("/email", "unknown_user", "No user in this tenant has this address. First "+
			"invite the user on the Users page.")
	case len(page.Items) > 1:
		return "", fault.InvalidField("/email", "ambiguous_user", "Several users have this address. To add the "+
			"right one, open that user's page.")
	}
	return page.Items[0].ID, nil
}

func (h *Handler) removeGroupMember(v *page.Visit) (web.Answer, error) {
	user, err := h.Directory.User(v.Ctx(), v.Who, userIn(v))
	if err == nil && !v.HasConfirmed() {
		return h.askRemoveGroupMember(v, user)
	}
	if err == nil {
		_, err = h.Directory.RemoveMember(v.Ctx(), v.Who, contract.InGroup(v.Param("group"), user.ID))
	}
	if err != nil {
		return web.Answer{}, err
	}
	path := groupPath(v.Param("group"))
	if v.Posted("from") == "user" {
		path = page.UserPath(user.ID) + "#groups"
	}
	return v.Done("member_gone", path, userTitle(user))
}

func (h *Handler) nestGroup(v *page.Visit) (web.Answer, error) {
	g, err := h.Directory.Nest(v.Ctx(), v.Who, contract.Nested(v.Param("group"), v.Posted("child")))
	if err == nil {
		return v.Done("nested", groupPath(g.ID)+"#children", nestedName(g, v.Posted("child")))
	}
	return h.refusedGroup(v, err, func(m *tenants.Group, wrong *page.Errors) {
		if m.Nest != nil {
			m.Nest.Error = wrong.Rest()
			page.Choose(m.Nest.Groups, v.Posted("child"))
		}
	})
}

func (h *Handler) unnestGroup(v *page.Visit) (web.Answer, error) {
	if !v.HasConfirmed() {
		return h.askUnnestGroup(v)
	}
	g, err := h.Directory.Group(v.Ctx(), v.Who, groupIn(v))
	if err == nil {
		_, err = h.Directory.Unnest(v.Ctx(), v.Who, contract.Nested(g.ID, v.Param("child")))
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("unnested", groupPath(g.ID)+"#children", nestedName(g, v.Param("child")))
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
func (h *Handler) askRemoveGroupMember(v *page.Visit, user contract.User) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	title := "Remove " + userTitle(user) + " from " + g.DisplayName
	m := ui.ConfirmationView{
		Page: h.tenantShell(v, t, title, groupPath(g.ID), ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)},
			ui.Crumb{Text: g.DisplayName, URL: groupPath(g.ID)}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{
			{Label: "User", Value: user.Email},
			{Label: "State", Value: user.State},
			{Label: "Direct members", Value: humanize.Comma(g.Members)},
		},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "member",
			Name: userTitle(user),
			Impact: []string{
				"Starting with the next call, they will lose access to routes that require the group " + g.Name +
					", unless one of its nested groups includes them.",
			},
			Undo: "You can add them again.",
		},
		BackURL: groupPath(g.ID),
	}
	if v.Posted("from") == "user" {
		m.BackURL = page.UserPath(user.ID)
		m.Confirm.Hidden = []ui.Hidden{{Name: "from", Value: "user"}}
	}
	return v.AskConfirmation(m)
}

// askUnnestGroup asks before a group is removed from another.
func (h *Handler) askUnnestGroup(v *page.Visit) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(g.Children, func(one contract.NestedGroup) bool { return one.ID == v.Param("child") })
	if i < 0 {
		return web.Answer{}, access.NotFound()
	}
	child, err := h.Directory.Group(v.Ctx(), v.Who, contract.GroupPath{Group: g.Children[i].ID})
	if err != nil {
		return web.Answer{}, err
	}
	title := "Remove " + child.DisplayName + " from " + g.DisplayName
	return v.AskConfirmation(ui.ConfirmationView{
		Page: h.tenantShell(v, t, title, groupPath(g.ID), ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)},
			ui.Crumb{Text: g.DisplayName, URL: groupPath(g.ID)}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{
			{Label: "Nested group", Value: child.Name},
			{Label: "Direct members", Value: humanize.Comma(child.Members)},
		},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "nested group",
			Impact: []string{
				"Starting with the next call, members of " + child.Name + " will lose access to routes that require " +
					"the group " + g.Name + ", unless they also belong to it some other way.",
				child.DisplayName + " will keep its members.",
			},
			Undo:     "You can add it again.",
			ByButton: true,
		},
		BackURL: groupPath(g.ID) + "#children",
	})
}
