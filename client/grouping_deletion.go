package client

import (
	"context"
	"net/http"
	"net/url"
)

// TenantDeletion is what deleting a tenant takes along. The projects stay.
type TenantDeletion struct {
	Projects   []string `json:"projects"`
	Users      int64    `json:"users"`
	Groups     int64    `json:"groups"`
	Approvals  int64    `json:"approvals"`
	AppClients int64    `json:"app_clients"`
	Providers  int64    `json:"providers"`
	Sessions   int64    `json:"sessions"`
	Keys       int64    `json:"keys"`
	ActiveKeys int64    `json:"active_keys"`
	InUse      bool     `json:"in_use"` // only EraseTenant deletes it
}

// TenantDeletion returns what deleting a tenant takes along.
func (c *Client) TenantDeletion(ctx context.Context, tenant string) (TenantDeletion, error) {
	return call[TenantDeletion](ctx, c, http.MethodGet, nil, "api", "v1", "tenants", tenant, "deletion")
}

// DeleteTenant removes a tenant without users, keys and other objects.
func (c *Client) DeleteTenant(ctx context.Context, tenant string) error {
	return c.remove(ctx, "api", "v1", "tenants", tenant)
}

// EraseTenant removes a tenant with its people, app clients and keys. confirm is its name.
func (c *Client) EraseTenant(ctx context.Context, tenant, confirm string) error {
	return c.removeConfirmed(ctx, confirm, "api", "v1", "tenants", tenant)
}

// ProductDeletion is what deleting a product changes. The projects stay.
type ProductDeletion struct {
	Projects   []string `json:"projects"`
	Keys       int64    `json:"keys"`
	ActiveKeys int64    `json:"active_keys"`
}

// ProductDeletion returns what deleting a product changes.
func (c *Client) ProductDeletion(ctx context.Context, product string) (ProductDeletion, error) {
	return call[ProductDeletion](ctx, c, http.MethodGet, nil, "api", "v1", "products", product, "deletion")
}

// DeleteProduct removes a product without projects.
func (c *Client) DeleteProduct(ctx context.Context, product string) error {
	return c.remove(ctx, "api", "v1", "products", product)
}

// EraseProduct removes a product, takes its projects out of it and revokes its keys. confirm
// is its name.
func (c *Client) EraseProduct(ctx context.Context, product, confirm string) error {
	return c.removeConfirmed(ctx, confirm, "api", "v1", "products", product)
}

func (c *Client) removeConfirmed(ctx context.Context, confirm string, segments ...string) error {
	response, err := c.send(ctx, http.MethodDelete, nil, "?"+url.Values{"confirm": {confirm}}.Encode(), segments)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
