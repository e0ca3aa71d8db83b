package pages

import (
	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/tenants"
	"postern/views/ui"
)

func countFact(label string, n int64) ui.Fact { return ui.Fact{Label: label, Value: someText(n)} }

func keysFact(all, active int64) ui.Fact {
	fact := countFact("API keys", all)
	if all > 0 {
		fact.Value += ", " + someText(active) + " of them active"
	}
	return fact
}

// tenantPage is a tenant's settings page with the form that deletes it.
func (h *Handler) tenantPage(v *visit) (tenants.Settings, error) {
	now, err := h.Projects.TenantSettings(v.ctx(), v.who, tenantIn(v))
	if err != nil {
		return tenants.Settings{}, err
	}
	t, d := now.Tenant, now.Deletion
	m := v.tenantModel(t, now.CORS)
	action := tenantPath(t.ID) + "/delete"
	switch {
	case t.Project != nil:
	case d.InUse && v.who.May(t.Team, access.TenantErase):
		m.Delete = tenantErasure(action, t, d)
		callers, err := h.Projects.CallersOfTenant(v.ctx(), v.who, t.ID)
		m.Delete.Impact = append(v.figure(callersText(callers), err),
			"All of this is deleted. Its keys and its users' sessions stop working immediately.",
			countText(int64(len(t.Projects)), "project")+" that serve the tenant stay.")
	case !d.InUse && v.who.May(t.Team, access.TenantDelete):
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
			countFact("Users", d.Users),
			countFact("Groups", d.Groups),
			countFact("Approvals", d.Approvals),
			countFact("App clients", d.AppClients),
			countFact("Providers", d.Providers),
			countFact("Sessions", d.Sessions),
			keysFact(d.Keys, d.ActiveKeys),
		},
	}
}

func (h *Handler) deleteTenant(v *visit) (web.Answer, error) {
	typed := v.posted("typed_name")
	t, err := h.tenantOf(v)
	if err == nil && typed == "" {
		err = v.confirmed("Tick the box, or type the tenant's name, to delete the tenant.")
	}
	if err == nil {
		_, err = h.Projects.DeleteTenant(v.ctx(), v.who, contract.TenantRemoval{TenantPath: t.Path(), Confirm: typed})
	}
	if err == nil {
		return v.done("tenant_gone", tenantsPath, t.DisplayName)
	}
	return h.refusedTenant(v, err, access.TenantDelete, func(m *tenants.Settings, wrong *formErrors) {
		v.mark(m.Delete, wrong)
	})
}
