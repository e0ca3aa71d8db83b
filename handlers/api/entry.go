package api

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/handlers/web"
	"postern/service/directory"
)

type approvalOutput struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind" enum:"email,domain"`
	Value     string    `json:"value"`
	Groups    []string  `json:"groups" doc:"Ids of groups of users approved by it"`
	CreatedAt time.Time `json:"created_at"`
}

func showApproval(a directory.Approval) approvalOutput {
	return approvalOutput{ID: a.ID, Kind: a.Kind, Value: a.Value, Groups: a.Groups, CreatedAt: a.CreatedAt.UTC()}
}

func (h *Handler) listApprovals(ctx context.Context, in *struct {
	contract.TenantPath
	Page
	Sort string `query:"sort" enum:"created,-created,value,-value" default:"created"`
	Text string `query:"q" maxLength:"200" doc:"Part of the address or domain, ignoring case"`
}) (*body[list[approvalOutput]], error) {
	found, err := h.Directory.Approvals(ctx, web.Principal(ctx), in.Tenant, in.sorted(in.Sort, in.Text))
	return answerPage(found, err, showApproval)
}

func (h *Handler) createApproval(ctx context.Context, in *struct {
	contract.TenantPath
	Body struct {
		Kind   string   `json:"kind" enum:"email,domain"`
		Value  string   `json:"value" doc:"E-mail address, or domain without its subdomains"`
		Groups []string `json:"groups,omitempty" doc:"Ids of groups of users approved by it"`
	}
}) (*body[approvalOutput], error) {
	made, err := h.Directory.Approve(ctx, web.Principal(ctx), in.Tenant, directory.NewApproval(in.Body))
	if err != nil {
		return nil, err
	}
	return &body[approvalOutput]{showApproval(made)}, nil
}

func (h *Handler) deleteApproval(ctx context.Context, in *struct {
	contract.TenantPath
	Approval string `path:"approval" doc:"Id of the approval"`
}) (*struct{}, error) {
	return nil, h.Directory.Disapprove(ctx, web.Principal(ctx), in.Tenant, in.Approval)
}

type entryOutput struct {
	InviteOnly bool `json:"invite_only" doc:"New users must be invited or approved; existing users may still sign in"`
}

func (h *Handler) getEntry(ctx context.Context, in *contract.TenantPath) (*body[entryOutput], error) {
	entry, err := h.Directory.Entry(ctx, web.Principal(ctx), in.Tenant)
	if err != nil {
		return nil, err
	}
	return &body[entryOutput]{entryOutput{entry.InviteOnly}}, nil
}

func (h *Handler) setEntry(ctx context.Context, in *struct {
	contract.TenantPath
	Body entryOutput
}) (*body[entryOutput], error) {
	err := h.Directory.SetInviteOnly(ctx, web.Principal(ctx), in.Tenant, in.Body.InviteOnly)
	if err != nil {
		return nil, err
	}
	return &body[entryOutput]{in.Body}, nil
}
