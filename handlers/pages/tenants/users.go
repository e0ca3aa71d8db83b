package tenants

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/service/directory"
	"postern/views/projects"
	"postern/views/tenants"
	"postern/views/ui"
)

func usersPath(tenant string) string { return page.TenantPath(tenant) + "/users" }

// tenantOf finds the tenant in the address.
func (h *Handler) tenantOf(v *page.Visit) (contract.Tenant, error) {
	return h.Projects.Tenant(v.Ctx(), v.Who, tenantIn(v))
}

func userBadge(state string) ui.Badge {
	switch state {
	case directory.Frozen:
		return ui.Badge{Tone: ui.Cold, Text: "frozen"}
	case directory.Invited:
		return ui.Badge{Tone: ui.Accent, Text: directory.Invited}
	}
	return ui.Badge{Tone: ui.Good, Text: state}
}

func userTitle(u contract.User) string { return cmp.Or(u.Name, u.Email, u.UserName, u.ID) }

func (h *Handler) showUsers(v *page.Visit) (web.Answer, error) {
	return h.userListWith(v, contract.NewUser{}, &page.Errors{})
}

// userListWith shows a tenant's users, with the form as typed.
func (h *Handler) userListWith(v *page.Visit, typed contract.NewUser, wrong *page.Errors) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := usersPath(t.ID)
	list := userList(path).Read(v)
	shown, err := h.Directory.Users(v.Ctx(), v.Who, contract.UserList{
		TenantPath: contract.TenantPath{Tenant: t.ID}, Page: list.Request(),
		State: list.Get("state"), Text: list.Get("q"), Sort: list.Sorting(),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Users{
		Page: h.tenantShell(v, t, "Users", path, ui.Crumb{Text: "Users"}),
		Head: tenantHead(t, path),
		List: page.ListView(list, shown),
	}
	if m.Rows, err = h.userRows(v, t.Projects, shown.Items); err != nil {
		return web.Answer{}, err
	}
	if v.Who.May(t.Team, access.UserUpdate) {
		m.Invite = &tenants.Invite{
			Open:   wrong.Status != 0,
			Action: path,
			Email:  wrong.Value("/email", typed.Email),
			Name:   wrong.Value("/name", typed.Name),
		}
		m.Invite.Error = wrong.Rest()
		m.Invite.Groups, err = h.groupOptions(v, t.ID, typed.Groups...)
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: tenants.UsersPage(m)}, err
}

// tenantsInFilter is how many tenants the filter of a project's users offers.
const tenantsInFilter = models.MaxMerged

// showProjectUsers lists the users of all tenants that a project serves.
func (h *Handler) showProjectUsers(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	served, err := h.Projects.Served(v.Ctx(), v.Who, p.ID, models.Page{Limit: models.MaxLimit})
	if err != nil {
		return web.Answer{}, err
	}
	path := page.ProjectPath(p.Name) + "/users"
	list := userList(path)
	if len(served.Items) > 1 {
		filter := page.ListFilter{Name: "tenant", Title: "Tenant"}
		for _, t := range served.Items[:min(len(served.Items), tenantsInFilter)] {
			filter.Options = append(filter.Options, ui.Option{
				Value: t.ID, Title: page.ChoiceTitle(t.DisplayName, t.Name),
			})
		}
		list.Filters = append(list.Filters, filter)
	}
	list.Read(v)
	m := projects.Users{
		Page: v.Shell("Users for "+p.DisplayName, path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Users"}),
		Head:     v.HeadOf(p),
		Unlisted: len(served.Items) > tenantsInFilter,
		Offered:  tenantsInFilter,
	}
	if m.Unlisted && list.Get("tenant") == "" { // ProjectUsers requires one
		list.Bar, m.AsksTenant = true, true
		m.List = page.ListView(list, models.List[contract.User]{})
		return web.Show(projects.UsersPage(m)), nil
	}
	found, err := h.Directory.ProjectUsers(v.Ctx(), v.Who, contract.ProjectUserList{
		ProjectPath: p.Path(), Page: list.Request(), Tenant: list.Get("tenant"),
		State: list.Get("state"), Text: list.Get("q"), Sort: list.Sorting(),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m.List = page.ListView(list, found)
	if m.Rows, err = h.userRows(v, []string{p.ID}, found.Items); err != nil {
		return web.Answer{}, err
	}
	if len(served.Items) == 1 {
		m.TenantURL = usersPath(served.Items[0].ID)
		return web.Show(projects.UsersPage(m)), nil
	}
	err = h.nameTenants(v, m.Rows, found.Items, served.Items)
	return web.Show(projects.UsersPage(m)), err
}

// nameTenants adds to rows which tenants their users are of. Those that are not known are looked up.
func (h *Handler) nameTenants(v *page.Visit, rows []ui.UserRow, users []contract.User, known []contract.Tenant) error {
	names := map[string]string{}
	for _, t := range known {
		names[t.ID] = t.DisplayName
	}
	for i, u := range users {
		if _, ok := names[u.Tenant]; !ok {
			t, err := h.Projects.Tenant(v.Ctx(), v.Who, contract.TenantPath{Tenant: u.Tenant})
			if err != nil {
				return err
			}
			names[u.Tenant] = t.DisplayName
		}
		rows[i].Tenant = ui.Link{URL: usersPath(u.Tenant), Text: names[u.Tenant]}
	}
	return nil
}

func userList(path string) *page.Listing {
	return &page.Listing{
		Path:   path,
		One:    "user",
		Search: "Email or name",
		Orders: []page.ListOrder{
			{By: "created", Desc: true},
			{By: "name"},
			{By: "state"},
			{By: "last_login", Desc: true},
		},
		Filters: []page.ListFilter{{Name: "state", Title: "State", Options: []ui.Option{
			{Value: directory.Active, Title: "Active"},
			{Value: directory.Frozen, Title: "Frozen"},
			{Value: directory.Invited, Title: "Invited"},
		}}},
	}
}

// userRows are the rows of users. served are the projects in which they are looked for.
func (h *Handler) userRows(v *page.Visit, served []string, users []contract.User) ([]ui.UserRow, error) {
	var ids []string
	for _, u := range users {
		ids = append(ids, u.ID)
	}
	lastActive, err := h.Usage.Seen(v.Ctx(), v.Who, served, ids)
	if err != nil {
		return nil, err
	}
	var rows []ui.UserRow
	for _, u := range users {
		rows = append(rows, ui.UserRow{
			URL:       page.UserPath(u.ID),
			Title:     userTitle(u),
			Email:     u.Email,
			State:     userBadge(u.State),
			Created:   u.CreatedAt,
			LastLogin: page.TimeOf(u.LastLoginAt),
			Seen:      lastActive[u.ID],
		})
	}
	return rows, nil
}

// lastCallFact is when a user called last. Usage is counted by the hour, and for a week.
func lastCallFact(at time.Time) ui.Fact {
	if at.IsZero() {
		return ui.Fact{Label: "Last call", Value: ui.NotActive}
	}
	return ui.Fact{Label: "Last call", Time: at}
}

// groupOptions returns all groups of a tenant as options, of which those whose ids are chosen are selected.
func (h *Handler) groupOptions(v *page.Visit, tenant string, chosen ...string) ([]ui.Option, error) {
	in := contract.GroupList{TenantPath: contract.TenantPath{Tenant: tenant}}
	groups, err := models.AllPages(func(page models.Page) (models.List[contract.Group], error) {
		in.Page = contract.Page{Cursor: page.Cursor, Limit: page.Limit}
		return h.Directory.Groups(v.Ctx(), v.Who, in)
	})
	if err != nil {
		return nil, err
	}
	var out []ui.Option
	for _, g := range groups {
		out = append(out, ui.Option{Value: g.ID, Title: g.DisplayName, Chosen: slices.Contains(chosen, g.ID)})
	}
	return out, nil
}

func (h *Handler) inviteUser(v *page.Visit) (web.Answer, error) {
	in := contract.UserCreation{TenantPath: contract.TenantPath{Tenant: v.Param("tenant")}}
	v.Fill(&in.Body, "email", "name", "groups")
	made, err := h.Directory.CreateUser(v.Ctx(), v.Who, in)
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.userListWith(v, in.Body, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("invited", page.UserPath(made.ID), userTitle(made))
}
