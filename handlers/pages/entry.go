package pages

import (
	"net/http"
	"slices"
	"strings"

	"postern/handlers/web"
	"postern/service/access"
	"postern/service/directory"
	"postern/views/tenants"
	"postern/views/ui"
)

func entryPath(tenant string) string { return tenantPath(tenant) + "/entry" }

func (h *Handler) showEntry(v *visit) (web.Answer, error) {
	return h.entryWith(v, directory.NewApproval{}, &formErrors{})
}

// entryWith shows who may sign in to a tenant, with the form as typed.
func (h *Handler) entryWith(v *visit, typed directory.NewApproval, wrong *formErrors) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	entry, err := h.Directory.Entry(v.ctx(), v.who, t.ID)
	if err != nil {
		return web.Answer{}, err
	}
	groups, err := h.groupOptions(v, t.ID, typed.Groups...)
	if err != nil {
		return web.Answer{}, err
	}
	path, mayChange := entryPath(t.ID), v.who.May(t.Team, access.UserUpdate)
	list := approvalList(path).read(v)
	approvals, err := h.Directory.Approvals(v.ctx(), v.who, t.ID, list.page())
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Entry{
		Page:       v.tenantShell(t, "Entry", path, ui.Crumb{Text: "Entry"}),
		Head:       tenantHead(t, path),
		InviteOnly: entry.InviteOnly,
		List:       listView(list, approvals),
	}
	for _, a := range approvals.Items {
		row := tenants.Approval{
			ID:     a.ID,
			Value:  a.Value,
			Kind:   approvalKind(a.Kind),
			Groups: intoGroups(groups, a.Groups),
			Since:  day(a.CreatedAt),
		}
		if mayChange {
			row.EndAction = tenantPath(t.ID) + "/approvals/" + a.ID + "/end"
		}
		m.Approvals = append(m.Approvals, row)
	}
	if mayChange {
		m.Action = path
		m.Approve = &tenants.Approve{
			Action: tenantPath(t.ID) + "/approvals",
			Value:  wrong.value("/value", typed.Value),
			Groups: groups,
		}
		m.Approve.Error = wrong.rest()
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: tenants.EntryPage(m)}, nil
}

func approvalList(path string) *listing {
	return &listing{
		path:    path,
		section: "approvals",
		one:     "approval",
		search:  "Address or domain",
		orders:  []listOrder{{by: "created", text: "Age"}, {by: "value", text: "Address"}},
	}
}

func approvalKind(kind string) string {
	if kind == directory.ByDomain {
		return "every address of the domain"
	}
	return "this address"
}

// intoGroups lists the names of groups. It leaves out groups that were deleted meanwhile.
func intoGroups(all []ui.Option, ids []string) string {
	var names []string
	for _, o := range all {
		if slices.Contains(ids, o.Value) {
			names = append(names, o.Title)
		}
	}
	if len(names) == 0 {
		return "into no group"
	}
	return "into " + strings.Join(names, ", ")
}

func (h *Handler) saveEntry(v *visit) (web.Answer, error) {
	inviteOnly := v.posted("invite_only") == "true"
	if err := h.Directory.SetInviteOnly(v.ctx(), v.who, v.param("tenant"), inviteOnly); err != nil {
		return web.Answer{}, err
	}
	return v.done("entry", entryPath(v.param("tenant")))
}

// approve approves an address, or a domain if the value has no @.
func (h *Handler) approve(v *visit) (web.Answer, error) {
	typed := directory.NewApproval{
		Kind:   directory.ByDomain,
		Value:  strings.ToLower(strings.TrimSpace(v.posted("value"))),
		Groups: v.c.Request.PostForm["groups"],
	}
	if strings.Contains(typed.Value, "@") {
		typed.Kind = directory.ByEmail
	}
	made, err := h.Directory.Approve(v.ctx(), v.who, v.param("tenant"), typed)
	if wrong, ok := formErrorsIn(err); ok {
		return h.entryWith(v, typed, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("approved", entryPath(v.param("tenant")), made.Value)
}

func (h *Handler) endApproval(v *visit) (web.Answer, error) {
	one, err := h.approvalOf(v)
	if err == nil && !v.asked() {
		return h.askEndApproval(v, one)
	}
	if err == nil {
		err = h.Directory.Disapprove(v.ctx(), v.who, v.param("tenant"), one.ID)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("disapproved", entryPath(v.param("tenant")), one.Value)
}
