package tenants

import (
	"net/http"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/tenants"
	"postern/views/ui"
)

func signupPath(tenant string) string { return page.TenantPath(tenant) + "/signup" }

func (h *Handler) showSignup(v *page.Visit) (web.Answer, error) {
	return h.signupWith(v, contract.NewApproval{}, &page.Errors{})
}

// signupWith shows who may sign in to a tenant for the first time, with the form as typed.
func (h *Handler) signupWith(v *page.Visit, typed contract.NewApproval, wrong *page.Errors) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	policy, err := h.Directory.SignupPolicy(v.Ctx(), v.Who, t.Path())
	if err != nil {
		return web.Answer{}, err
	}
	groups, err := h.groupOptions(v, t.ID, typed.Groups...)
	if err != nil {
		return web.Answer{}, err
	}
	path, mayChange := signupPath(t.ID), v.Who.May(t.Team, access.UserUpdate)
	list := approvalList(path).Read(v)
	approvals, err := h.Directory.Approvals(v.Ctx(), v.Who, contract.ApprovalList{
		TenantPath: t.Path(), Page: list.Request(), Sort: list.Sorting(), Text: list.Get("q"),
	})
	if err != nil {
		return web.Answer{}, err
	}
	m := tenants.Signup{
		Page:       h.tenantShell(v, t, "Sign-up", path, ui.Crumb{Text: "Sign-up"}),
		Head:       tenantHead(t, path),
		InviteOnly: policy.InviteOnly,
		List:       page.ListView(list, approvals),
	}
	for _, a := range approvals.Items {
		row := tenants.Approval{
			ID:     a.ID,
			Value:  a.Value,
			Kind:   approvalKind(a.Kind),
			Groups: intoGroups(groups, a.Groups),
			Since:  a.CreatedAt,
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
			Value:  wrong.Value("/value", typed.Value),
			Groups: groups,
		}
		m.Approve.Error = wrong.Rest()
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: tenants.SignupPage(m)}, nil
}

func approvalList(path string) *page.Listing {
	return &page.Listing{
		Path:    path,
		Section: "approvals",
		One:     "approval",
		Search:  "Address or domain",
		Orders:  []page.ListOrder{{By: "created", Text: "Created"}, {By: "value", Text: "Address"}},
	}
}

func approvalKind(kind string) string {
	if kind == contract.ByDomain {
		return "every address in the domain"
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
		return "no groups"
	}
	return "groups: " + strings.Join(names, ", ")
}

func (h *Handler) saveSignupPolicy(v *page.Visit) (web.Answer, error) {
	in := contract.SignupPolicyUpdate{TenantPath: contract.TenantPath{Tenant: v.Param("tenant")}}
	v.Fill(&in.Body, "invite_only")
	if _, err := h.Directory.UpdateSignupPolicy(v.Ctx(), v.Who, in); err != nil {
		return web.Answer{}, err
	}
	return v.Done("signup_policy", signupPath(in.Tenant))
}

func (h *Handler) createApproval(v *page.Visit) (web.Answer, error) {
	var typed contract.NewApproval
	v.Fill(&typed, "value", "groups")
	made, err := h.Directory.CreateApproval(v.Ctx(), v.Who, typed.In(v.Param("tenant")))
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.signupWith(v, typed, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("approved", signupPath(v.Param("tenant")), made.Value)
}

func (h *Handler) endApproval(v *page.Visit) (web.Answer, error) {
	one, err := h.approvalOf(v)
	if err == nil && !v.HasConfirmed() {
		return h.askEndApproval(v, one)
	}
	if err == nil {
		_, err = h.Directory.DeleteApproval(v.Ctx(), v.Who, contract.ApprovalOf(v.Param("tenant"), one.ID))
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("disapproved", signupPath(v.Param("tenant")), one.Value)
}

// approvalOf finds the approval in the address.
func (h *Handler) approvalOf(v *page.Visit) (contract.Approval, error) {
	return h.Directory.Approval(v.Ctx(), v.Who, contract.ApprovalOf(v.Param("tenant"), v.Param("approval")))
}

// askEndApproval asks before an approval is removed.
func (h *Handler) askEndApproval(v *page.Visit, one contract.Approval) (web.Answer, error) {
	t, err := h.tenantOf(v)
	if err == nil {
		err = access.Check(v.Who, t.Team, access.UserUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	whose := "A user with the address " + one.Value
	if one.Kind != contract.ByEmail {
		whose = "Users with an address in " + one.Value
	}
	return v.AskConfirmation(ui.ConfirmationView{
		Page: h.tenantShell(v, t, "Remove an approval", signupPath(t.ID),
			ui.Crumb{Text: "Sign-up", URL: signupPath(t.ID)}),
		Title: "Remove the approval for " + one.Value,
		Facts: []ui.Fact{{Label: "Approved", Value: one.Value}, {Label: "Added", Time: one.CreatedAt}},
		Confirm: ui.Confirmation{
			Verb: "Remove",
			Kind: "approval",
			Name: one.Value,
			Impact: []string{
				whose + " can no longer sign up while sign-up is by invitation only. Users who have already signed " +
					"in keep their access.",
			},
			Undo: "You can approve it again.",
		},
		BackURL: signupPath(t.ID),
	})
}
