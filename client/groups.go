package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Group is a group of a tenant's users. Children and Parents are not in lists.
type Group struct {
	ID          string        `json:"id"`
	Tenant      string        `json:"tenant"` // id
	Name        string        `json:"name"`
	DisplayName string        `json:"display_name"`
	ExternalID  string        `json:"external_id,omitempty"` // a provisioning system's
	Members     int64         `json:"members"`               // direct members
	CreatedAt   time.Time     `json:"created_at"`
	UpdatedAt   time.Time     `json:"updated_at"`
	Children    []NestedGroup `json:"children,omitempty"`
	Parents     []NestedGroup `json:"parents,omitempty"`
}

// NestedGroup is a group in another.
type NestedGroup struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	DisplayName string `json:"display_name"`
}

// GroupMember is a user in a group.
type GroupMember struct {
	User  string    `json:"user"` // id
	Email string    `json:"email"`
	Name  string    `json:"name"`
	State string    `json:"state"`
	Role  string    `json:"role"` // member or admin
	Since time.Time `json:"since"`
}

// GroupInput creates or changes a group; nil leaves a field as it is.
type GroupInput struct {
	Name        *string `json:"name,omitempty"`
	DisplayName *string `json:"display_name,omitempty"`
}

// Groups iterates over a tenant's groups by name.
func (c *Client) Groups(ctx context.Context, tenant string, options ...ListOptions) iter.Seq2[Group, error] {
	return pagesOf[Group](ctx, c, queryOf(options), "api", "v1", "tenants", tenant, "groups")
}

// CreateGroup creates a group.
func (c *Client) CreateGroup(ctx context.Context, tenant string, in GroupInput) (Group, error) {
	return call[Group](ctx, c, http.MethodPost, in, "api", "v1", "tenants", tenant, "groups")
}

// Group returns a group.
func (c *Client) Group(ctx context.Context, id string) (Group, error) {
	return call[Group](ctx, c, http.MethodGet, nil, "api", "v1", "groups", id)
}

// UpdateGroup changes a group.
func (c *Client) UpdateGroup(ctx context.Context, id string, in GroupInput) (Group, error) {
	return call[Group](ctx, c, http.MethodPatch, in, "api", "v1", "groups", id)
}

// DeleteGroup removes a group; its members stay users.
func (c *Client) DeleteGroup(ctx context.Context, id string) error {
	return c.remove(ctx, "api", "v1", "groups", id)
}

// GroupMembers iterates over the direct members of a group.
func (c *Client) GroupMembers(ctx context.Context, id string, options ...ListOptions) iter.Seq2[GroupMember, error] {
	return pagesOf[GroupMember](ctx, c, queryOf(options), "api", "v1", "groups", id, "members")
}

// SetGroupMember adds a user to a group as member or admin, or changes the role.
func (c *Client) SetGroupMember(ctx context.Context, group, user, role string) (Group, error) {
	return call[Group](
		ctx, c, http.MethodPut, map[string]string{"role": role}, "api", "v1", "groups", group, "members",
		user,
	)
}

// RemoveGroupMember removes a user from a group.
func (c *Client) RemoveGroupMember(ctx context.Context, group, user string) error {
	return c.remove(ctx, "api", "v1", "groups", group, "members", user)
}

// NestGroup nests a group in another.
func (c *Client) NestGroup(ctx context.Context, group, child string) (Group, error) {
	return call[Group](ctx, c, http.MethodPut, nil, "api", "v1", "groups", group, "children", child)
}

// UnnestGroup removes a group from another.
func (c *Client) UnnestGroup(ctx context.Context, group, child string) error {
	return c.remove(ctx, "api", "v1", "groups", group, "children", child)
}
