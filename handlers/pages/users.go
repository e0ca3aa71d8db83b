package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/models"
	"postern/service/access"
	"postern/service/directory"
	"postern/views/tenants"
	"postern/views/ui"
)

func usersPath(tenant string) string { return tenantPath(tenant) + "/users" }

func userPath(id string) string { return "/users/" + url.PathEscape(id) }

// tenantOf finds the tenant in the address.
func (h *Handler) tenantOf(v *visit) (contract.Tenant, error) {
	return h.Projects.Tenant(v.ctx(), v.who, tenantIn(v))
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

func (h *Handler) showUsers(v *visit) (web.Answer, error) {
	return h.userListWith(v, contract.NewUser{}, &formErrors{})
}

// userListWith shows a tenant's users, with the form as typed.
func (h *Handler) userListWith(v *visit, typed contract.NewUser, wrong *formErrors) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	path := usersPath(t.ID)
	list := userList(path).read(v)
	page, err := h.Directory.Users(v.ctx(), v.who, contract.UserList{
		TenantPath: contract.TenantPath{Tenant: t.ID}, Page: list.asked(),
		State: list.get("state"), Text: list.get("q"), Sort: list.sorting(),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Users{
		Page: v.tenantShell(t, "Users", path, ui.Crumb{Text: "Users"}),
		Head: tenantHead(t, path),
		List: listView(list, page),
	}
	if m.Rows, err = h.userRows(v, t, page.Items); err != nil {
		return web.Answer{}, err
	}
	if v.who.May(t.Team, access.UserUpdate) {
		m.Invite = &tenants.Invite{
			Open:   wrong.status != 0,
			Action: path,
			Email:  wrong.value("/email", typed.Email),
			Name:   wrong.value("/name", typed.Name),
		}
		m.Invite.Error = wrong.rest()
		m.Invite.Groups, err = h.groupOptions(v, t.ID, typed.Groups...)
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: tenants.UsersPage(m)}, err
}

func userList(path string) *listing {
	return &listing{
		path:   path,
		one:    "user",
		search: "Email or name",
		orders: []listOrder{{by: "created", desc: true}, {by: "name"}, {by: "state"}, {by: "last_login", desc: true}},
		filters: []listFilter{{name: "state", title: "State", options: []ui.Option{
			{Value: directory.Active, Title: "Active"},
			{Value: directory.Frozen, Title: "Frozen"},
			{Value: directory.Invited, Title: "Invited"},
		}}},
	}
}

func (h *Handler) userRows(v *visit, t contract.Tenant, users []contract.User) ([]tenants.UserRow, error) {
	var ids []string
	for _, u := range users {
		ids = append(ids, u.ID)
	}
	lastActive, err := h.Usage.Seen(v.ctx(), v.who, t.Projects, ids)
	if err != nil {
		return nil, err
	}
	var rows []tenants.UserRow
	for _, u := range users {
		rows = append(rows, tenants.UserRow{
			URL:       userPath(u.ID),
			Title:     userTitle(u),
			Email:     u.Email,
			State:     userBadge(u.State),
			Created:   day(u.CreatedAt),
			LastLogin: dayOrNever(u.LastLoginAt),
			Seen:      lastActiveText(lastActive[u.ID]),
		})
	}
	return rows, nil
}

// lastActiveText is a text such as "20 Nov 2026, 13:00 UTC". Usage is counted by the hour.
func lastActiveText(at time.Time) string {
	if at.IsZero() {
		return "not in 7 days"
	}
	return moment(at)
}

// groupOptions returns all groups of a tenant as options, of which those whose ids are chosen are selected.
func (h *Handler) groupOptions(v *visit, tenant string, chosen ...string) ([]ui.Option, error) {
	in := contract.GroupList{TenantPath: contract.TenantPath{Tenant: tenant}}
	groups, err := models.AllPages(func(page models.Page) (models.List[contract.Group], error) {
		in.Page = contract.Page{Cursor: page.Cursor, Limit: page.Limit}
		return h.Directory.Groups(v.ctx(), v.who, in)
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

func (h *Handler) inviteUser(v *visit) (web.Answer, error) {
	in := contract.UserCreation{TenantPath: contract.TenantPath{Tenant: v.param("tenant")}}
	v.fill(&in.Body, "email", "name", "groups")
	made, err := h.Directory.CreateUser(v.ctx(), v.who, in)
	if wrong, ok := formErrorsIn(err); ok {
		return h.userListWith(v, in.Body, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("invited", userPath(made.ID), userTitle(made))
}
