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
		TenantPath: contract.TenantPath{Tenant: t.ID}, Page: list.Asked(),
		State: list.Get("state"), Text: list.Get("q"), Sort: list.Sorting(),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Users{
		Page: tenantShell(v, t, "Users", path, ui.Crumb{Text: "Users"}),
		Head: tenantHead(t, path),
		List: page.ListView(list, shown),
	}
	if m.Rows, err = h.userRows(v, t, shown.Items); err != nil {
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

func (h *Handler) userRows(v *page.Visit, t contract.Tenant, users []contract.User) ([]tenants.UserRow, error) {
	var ids []string
	for _, u := range users {
		ids = append(ids, u.ID)
	}
	lastActive, err := h.Usage.Seen(v.Ctx(), v.Who, t.Projects, ids)
	if err != nil {
		return nil, err
	}
	var rows []tenants.UserRow
	for _, u := range users {
		rows = append(rows, tenants.UserRow{
			URL:       page.UserPath(u.ID),
			Title:     userTitle(u),
			Email:     u.Email,
			State:     userBadge(u.State),
			Created:   page.Day(u.CreatedAt),
			LastLogin: page.DayOrNever(u.LastLoginAt),
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
	return page.Moment(at)
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
