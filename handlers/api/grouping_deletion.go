package api

import (
	"context"

	"postern/handlers/web"
)

type tenantDeletionOutput struct {
	Projects   []string `json:"projects" doc:"Names of the projects that serve it; they stay"`
	Users      int64    `json:"users"`
	Groups     int64    `json:"groups"`
	Approvals  int64    `json:"approvals"`
	AppClients int64    `json:"app_clients"`
	Providers  int64    `json:"providers"`
	Sessions   int64    `json:"sessions" doc:"Of users who are signed in"`
	Keys       int64    `json:"keys" doc:"In all projects, also revoked ones"`
	ActiveKeys int64    `json:"active_keys"`
	InUse      bool     `json:"in_use" doc:"It can only be deleted by an owner, with its name as confirm"`
}

func (h *Handler) getTenantDeletion(ctx context.Context, in *TenantRef) (*body[tenantDeletionOutput], error) {
	d, err := h.Projects.TenantDeletion(ctx, web.Principal(ctx), in.Tenant)
	if err != nil {
		return nil, err
	}
	c := d.Contents
	return &body[tenantDeletionOutput]{tenantDeletionOutput{
		Projects:   orNone(d.Tenant.Projects),
		Users:      c.Users,
		Groups:     c.Groups,
		Approvals:  c.Approvals,
		AppClients: c.AppClients,
		Providers:  c.Providers,
		Sessions:   c.Sessions,
		Keys:       c.Keys,
		ActiveKeys: c.ActiveKeys,
		InUse:      d.InUse(),
	}}, nil
}

func (h *Handler) deleteTenant(ctx context.Context, in *struct {
	TenantRef
	Confirm string `query:"confirm" doc:"The tenant's name: delete it with its people, keys and app clients; only owners"`
}) (*struct{}, error) {
	return nil, h.Projects.DeleteTenant(ctx, web.Principal(ctx), in.Tenant, in.Confirm)
}

type productDeletionOutput struct {
	Projects   []string `json:"projects" doc:"Names of its projects; they stay"`
	Keys       int64    `json:"keys" doc:"That open all of its projects, also revoked ones"`
	ActiveKeys int64    `json:"active_keys"`
}

func (h *Handler) getProductDeletion(ctx context.Context, in *ProductRef) (*body[productDeletionOutput], error) {
	d, err := h.Projects.ProductDeletion(ctx, web.Principal(ctx), in.Product)
	if err != nil {
		return nil, err
	}
	return &body[productDeletionOutput]{productDeletionOutput{
		Projects:   orNone(d.Product.Projects),
		Keys:       d.Keys,
		ActiveKeys: d.ActiveKeys,
	}}, nil
}

func (h *Handler) deleteProduct(ctx context.Context, in *struct {
	ProductRef
	Confirm string `query:"confirm" doc:"The product's name: its projects leave it and its keys are revoked"`
}) (*struct{}, error) {
	return nil, h.Projects.DeleteProduct(ctx, web.Principal(ctx), in.Product, in.Confirm)
}
