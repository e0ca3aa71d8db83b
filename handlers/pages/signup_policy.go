package pages

import (
	"net/http"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/tenants"
	"postern/views/ui"
)

func signupPath(tenant string) string { return tenantPath(tenant) + "/signup" }

func (h *Handler) showSignup(v *visit) (web.Answer, error) {
	return h.signupWith(v, contract.NewApproval{}, &formErrors{})
}

// signupWith shows who may sign in to a tenant for the first time, with the form as typed.
func (h *Handler) signupWith(v *visit, typed contract.NewApproval, wrong *formErrors) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	policy, err := h.Directory.SignupPolicy(v.ctx(), v.who, t.Path())
	if err != nil {
		return web.Answer{}, err
	}
	groups, err := h.groupOptions(v, t.ID, typed.Groups...)
	if err != nil {
		return web.Answer{}, err
	}
	path, mayChange := signupPath(t.ID), v.who.May(t.Team, access.UserUpdate)
	list := approvalList(path).read(v)
	approvals, err := h.Directory.Approvals(v.ctx(), v.who, contract.ApprovalList{
		TenantPath: t.Path(), Page: list.asked(), Sort: list.sorting(), Text: list.get("q"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Signup{
		Page:       v.tenantShell(t, "Sign-up", path, ui.Crumb{Text: "Sign-up"}),
		Head:       tenantHead(t, path),
		InviteOnly: policy.InviteOnly,
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
			row.EndAction = path + "/approvals/" + a.ID + "/end"
		}
		m.Approvals = append(m.Approvals, row)
	}
	if mayChange {
		m.Action = path
		m.Approve = &tenants.Approve{
			Action: path + "/approvals",
			Value:  wrong.value("/value", typed.Value),
			Groups: groups,
		}
		m.Approve.Error = wrong.rest()
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: tenants.SignupPage(m)}, nil
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
	if kind == contract.ByDomain {
		return "every address of the domain"
	}
	return "this address"
}

// intoGroups lists the names of groups. It leaves out groups that were deleted since.
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

func (h *Handler) saveSignupPolicy(v *visit) (web.Answer, error) {
	in := contract.SignupPolicyUpdate{TenantPath: contract.TenantPath{Tenant: v.param("tenant")}}
	v.fill(&in.Body, "invite_only")
	if _, err := h.Directory.UpdateSignupPolicy(v.ctx(), v.who, in); err != nil {
		return web.Answer{}, err
	}
	return v.done("signup_policy", signupPath(in.Tenant))
}

func (h *Handler) createApproval(v *visit) (web.Answer, error) {
	var typed contract.NewApproval
	v.fill(&typed, "value", "groups")
	made, err := h.Directory.CreateApproval(v.ctx(), v.who, typed.In(v.param("tenant")))
	if wrong, ok := formErrorsIn(err); ok {
		return h.signupWith(v, typed, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("approved", signupPath(v.param("tenant")), made.Value)
}

func (h *Handler) endApproval(v *visit) (web.Answer, error) {
	one, err := h.approvalOf(v)
	if err == nil && !v.asked() {
		return h.askEndApproval(v, one)
	}
	if err == nil {
		_, err = h.Directory.DeleteApproval(v.ctx(), v.who, contract.ApprovalOf(v.param("tenant"), one.ID))
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("disapproved", signupPath(v.param("tenant")), one.Value)
}

// approvalOf finds the approval in the address.
func (h *Handler) approvalOf(v *visit) (contract.Approval, error) {
	return h.Directory.Approval(v.ctx(), v.who, contract.ApprovalOf(v.param("tenant"), v.param("approval")))
}

// askEndApproval asks before an approval is removed.
func (h *Handler) askEndApproval(v *visit, one contract.Approval) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err == nil {
		err = access.Check(v.who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	whose := "The address " + one.Value
	if one.Kind != contract.ByEmail {
		whose = "Addresses of " + one.Value
	}
	return v.ask(ui.Asked{
		Page: v.tenantShell(t, "Remove an approval", signupPath(t.ID),
			ui.Crumb{Text: "Sign-up", URL: signupPath(t.ID)}),
		Title: "Remove the approval of " + one.Value,
		Facts: []ui.Fact{{Label: "Approved", Value: one.Value}, {Label: "Since", Value: day(one.CreatedAt)}},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "approval",
			Name: one.Value,
			Impact: []string{
				whose + " can no longer sign up while sign-up is by invitation only. Users who signed in with it " +
					"stay.",
			},
			Undo: "You can approve it again.",
		},
		BackURL: signupPath(t.ID),
	})
}
