package tenants

import (
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/directory"
	"postern/views/tenants"
	"postern/views/ui"
)

// ownersOf adds the app owners in a group to its page, with the forms that change them where mayChange.
func (h *Handler) ownersOf(v *page.Visit, m *tenants.Group, g contract.Group, mayChange bool) error {
	path := groupPath(g.ID)
	list := &page.Listing{
		Path:    path,
		Prefix:  "owners_",
		Section: "owners",
		One:     "app",
		Search:  "Name",
		Orders:  []page.ListOrder{{By: "owner", Text: "Name"}, {By: "role", Text: "Role"}},
	}
	list.Read(v)
	shown, err := h.Directory.Owners(v.Ctx(), v.Who, contract.GroupOwnerList{
		GroupPath: g.Path(), Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return err
	}
	m.OwnerList = page.ListView(list, shown)
	for _, one := range shown.Items {
		row := tenants.GroupOwner{Name: one.Owner, HasKeys: one.HasKeys, Role: one.Role}
		if mayChange {
			row.RemoveAction = path + "/owners/remove"
		}
		m.Owners = append(m.Owners, row)
	}
	if mayChange {
		m.AddOwner = &tenants.AddOwner{Action: path + "/owners"}
	}
	return nil
}

// addGroupOwner adds an app to the group.
func (h *Handler) addGroupOwner(v *page.Visit) (web.Answer, error) {
	owner := strings.TrimSpace(v.Posted("owner"))
	g, err := h.Directory.SetOwner(v.Ctx(), v.Who, contract.GroupOwnership{
		GroupPath: groupIn(v), Body: contract.NewGroupOwner{Owner: owner, Role: directory.RoleMember},
	})
	if err == nil {
		return v.Done("member", groupPath(g.ID)+"#owners", owner, g.DisplayName)
	}
	return h.refusedGroup(v, err, func(m *tenants.Group, wrong *page.Errors) {
		m.AddOwner.Owner = wrong.Value("/owner", owner)
		m.AddOwner.Error = wrong.Rest()
	})
}

func (h *Handler) removeGroupOwner(v *page.Visit) (web.Answer, error) {
	owner := v.Posted("owner")
	if !v.HasConfirmed() {
		return h.askRemoveGroupOwner(v, owner)
	}
	_, err := h.Directory.RemoveOwner(v.Ctx(), v.Who, contract.GroupOwnerRemoval{GroupPath: groupIn(v), Owner: owner})
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("member_gone", groupPath(v.Param("group"))+"#owners", owner)
}

// askRemoveGroupOwner asks before an app leaves a group.
func (h *Handler) askRemoveGroupOwner(v *page.Visit, owner string) (web.Answer, error) {
	g, t, err := h.groupOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	title := "Remove " + owner + " from " + g.DisplayName
	return v.AskConfirmation(ui.ConfirmationView{
		Page: h.tenantShell(v, t, title, groupPath(g.ID), ui.Crumb{Text: "Groups", URL: groupsPath(t.ID)},
			ui.Crumb{Text: g.DisplayName, URL: groupPath(g.ID)}, ui.Crumb{Text: title}),
		Title: title,
		Facts: []ui.Fact{
			{Label: "App", Value: owner},
			{Label: "Apps in the group", Value: humanize.Comma(g.Owners)},
		},
		Confirm: ui.Confirmation{
			Verb:   "Remove",
			Kind:   "app",
			Name:   owner,
			Hidden: []ui.Hidden{{Name: "owner", Value: owner}},
			Impact: []string{
				"Starting with the next call, its keys will lose access to routes that require the group " + g.Name +
					", unless one of its nested groups includes the app.",
			},
			Undo: "You can add it again.",
		},
		BackURL: groupPath(g.ID),
	})
}
