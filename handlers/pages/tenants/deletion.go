package tenants

import (
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/tenants"
	"postern/views/ui"
)

// tenantPage is a tenant's settings page with the form that deletes it.
func (h *Handler) tenantPage(v *page.Visit) (tenants.Settings, error) {
	now, err := h.Projects.TenantSettings(v.Ctx(), v.Who, tenantIn(v))
	if err != nil {
		return tenants.Settings{}, err
	}
	t, d := now.Tenant, now.Deletion
	m := h.tenantModel(v, t, now.CORS)
	if m.Attach, err = h.tenantAttach(v, t); err != nil {
		return m, err
	}
	action := page.TenantPath(t.ID) + "/delete"
	switch {
	case t.Project != nil:
	case d.InUse && v.Who.May(t.Team, access.TenantErase):
		m.Delete = tenantErasure(action, t, d)
		callers, err := h.Projects.CallersOfTenant(v.Ctx(), v.Who, t.ID)
		m.Delete.Impact = append(v.Figure(page.CallersText(callers), err),
			"Everything listed above will be deleted. The tenant's keys and its users' sessions will stop working "+
				"immediately.",
			english.Plural(len(t.Projects), "project that serves it won't be deleted", "projects that serve it won't "+
				"be deleted")+".")
	case !d.InUse && v.Who.May(t.Team, access.TenantDelete):
		m.Delete = &ui.Confirmation{
			ID:     "delete-confirm",
			Action: action,
			Verb:   "Delete",
			Kind:   "tenant",
			Name:   t.DisplayName,
			Impact: []string{"No project serves it, and it has no users, app clients or keys."},
		}
	}
	return m, nil
}

// tenantErasure asks for the name of a tenant that is in use.
func tenantErasure(action string, t contract.Tenant, d contract.TenantDeletion) *ui.Confirmation {
	return &ui.Confirmation{
		ID:     "erase-confirm",
		Action: action,
		Verb:   "Delete",
		Kind:   "tenant",
		Name:   t.DisplayName,
		Type:   t.Name,
		Facts: []ui.Fact{
			page.CountFact("Users", d.Users),
			page.CountFact("Groups", d.Groups),
			page.CountFact("Approvals", d.Approvals),
			page.CountFact("App clients", d.AppClients),
			page.CountFact("Providers", d.Providers),
			page.CountFact("Sessions", d.Sessions),
			page.KeysFact(d.Keys, d.ActiveKeys),
		},
	}
}

func (h *Handler) deleteTenant(v *page.Visit) (web.Answer, error) {
	typed := v.Posted("typed_name")
	t, err := h.tenantOf(v)
	if err == nil && typed == "" {
		err = v.Confirmed("Check the box, or type the tenant's name, to delete the tenant.")
	}
	if err == nil {
		_, err = h.Projects.DeleteTenant(v.Ctx(), v.Who, contract.TenantRemoval{TenantPath: t.Path(), Confirm: typed})
	}
	if err == nil {
		return v.Done("tenant_gone", page.TenantsPath, t.DisplayName)
	}
	return h.refusedTenant(v, err, access.TenantDelete, func(m *tenants.Settings, wrong *page.Errors) {
		v.Mark(m.Delete, wrong)
	})
}

// userDeletionText says what ends with a user.
func userDeletionText(sessions, groups int) string {
	var ends []string
	if sessions > 0 {
		ends = append(ends, page.CountText(int64(sessions), "session"))
	}
	if groups > 0 {
		ends = append(ends, page.CountText(int64(groups), "group membership"))
	}
	if len(ends) == 0 {
		return "Their identities will be deleted immediately."
	}
	return "Their identities will be deleted, and " + english.WordSeries(ends, "and") + " will end immediately."
}

// groupDeletionText says who is no longer in a group that is deleted.
func groupDeletionText(g contract.Group) string {
	var who []string
	if g.Members > 0 {
		who = append(who, "its "+page.CountText(g.Members, "direct member"))
	}
	if g.Owners > 0 {
		who = append(who, "its "+page.CountText(g.Owners, "app"))
	}
	lose := english.PluralWord(int(g.Members+g.Owners), "loses", "lose")
	if n := len(g.Children); n > 0 {
		nested := page.CountText(int64(n), "nested group")
		lose = "lose"
		who = append(who, "members of its "+nested)
	}
	if len(who) == 0 {
		return "It has no members."
	}
	return "Starting with the next call, " + english.WordSeries(who, "and") + " " + lose +
		" access to routes that require the group."
}
