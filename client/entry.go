package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Approval admits users to a tenant by an e-mail address that their provider confirms.
type Approval struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind"` // email or domain
	Value     string    `json:"value"`
	Groups    []string  `json:"groups"` // ids
	CreatedAt time.Time `json:"created_at"`
}

// NewApproval is a request for an approval.
type NewApproval struct {
	Kind   string   `json:"kind"`
	Value  string   `json:"value"`
	Groups []string `json:"groups,omitempty"`
}

// Approvals iterates over a tenant's approvals.
func (c *Client) Approvals(ctx context.Context, tenant string, options ...ListOptions) iter.Seq2[Approval, error] {
	return pagesOf[Approval](ctx, c, queryOf(options), "api", "v1", "tenants", tenant, "approvals")
}

// Approve admits users by their e-mail address or its domain.
func (c *Client) Approve(ctx context.Context, tenant string, in NewApproval) (Approval, error) {
	return call[Approval](ctx, c, http.MethodPost, in, "api", "v1", "tenants", tenant, "approvals")
}

// Disapprove removes an approval.
func (c *Client) Disapprove(ctx context.Context, tenant, id string) error {
	return c.remove(ctx, "api", "v1", "tenants", tenant, "approvals", id)
}

// Entry says which users may sign in to a tenant.
type Entry struct {
	InviteOnly bool `json:"invite_only"`
}

// Entry returns which users may sign in to a tenant.
func (c *Client) Entry(ctx context.Context, tenant string) (Entry, error) {
	return call[Entry](ctx, c, http.MethodGet, nil, "api", "v1", "tenants", tenant, "entry")
}

// SetEntry changes which users may sign in to a tenant.
func (c *Client) SetEntry(ctx context.Context, tenant string, in Entry) (Entry, error) {
	return call[Entry](ctx, c, http.MethodPut, in, "api", "v1", "tenants", tenant, "entry")
}
