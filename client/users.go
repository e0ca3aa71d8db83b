package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"
)

// User is a user of a tenant. Identities and Groups are not in lists.
type User struct {
	ID            string         `json:"id"`
	Tenant        string         `json:"tenant"` // id
	Email         string         `json:"email"`  // "" if the provider gives none
	EmailVerified bool           `json:"email_verified"`
	Name          string         `json:"name"`
	Profile       map[string]any `json:"profile,omitempty"`     // claims that a provider stated
	UserName      string         `json:"user_name,omitempty"`   // a provisioning system's
	ExternalID    string         `json:"external_id,omitempty"` // a provisioning system's
	State         string         `json:"state"`                 // active, frozen or invited
	LastLoginAt   *time.Time     `json:"last_login_at"`
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	Identities    []UserIdentity `json:"identities,omitempty"`
	Groups        []UserGroup    `json:"groups,omitempty"`
}

// UserIdentity is a user's identity at a provider.
type UserIdentity struct {
	Issuer  string    `json:"issuer"`
	Subject string    `json:"subject"`
	Since   time.Time `json:"since"`
}

// UserGroup is a group of a user.
type UserGroup struct {
	ID          string  `json:"id"`
	Name        string  `json:"name"`
	DisplayName string  `json:"display_name"`
	Role        *string `json:"role"` // nil: a member only through a nested group
}

// NewUser is an invited user. Groups are ids.
type NewUser struct {
	Email  string   `json:"email"`
	Name   string   `json:"name,omitempty"`
	Groups []string `json:"groups,omitempty"`
}

// UserChange changes a user; nil leaves a field as it is.
type UserChange struct {
	Email *string `json:"email,omitempty"`
	Name  *string `json:"name,omitempty"`
}

// UserFilter selects users; an empty field selects all.
type UserFilter struct{ State, Email, Query, Group, Sort string }

// Users iterates over a tenant's users, newest first, page by page.
func (c *Client) Users(ctx context.Context, tenant string, f UserFilter) iter.Seq2[User, error] {
	query := url.Values{}
	for name, value := range map[string]string{
		"state": f.State,
		"email": f.Email,
		"q":     f.Query,
		"group": f.Group,
		"sort":  f.Sort,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return pagesOf[User](ctx, c, query, "api", "v1", "tenants", tenant, "users")
}

// CreateUser creates an invited user. See InviteUser for their link.
func (c *Client) CreateUser(ctx context.Context, tenant string, in NewUser) (User, error) {
	return call[User](ctx, c, http.MethodPost, in, "api", "v1", "tenants", tenant, "users")
}

// User returns a user.
func (c *Client) User(ctx context.Context, id string) (User, error) {
	return call[User](ctx, c, http.MethodGet, nil, "api", "v1", "users", id)
}

// UpdateUser changes a user.
func (c *Client) UpdateUser(ctx context.Context, id string, in UserChange) (User, error) {
	return call[User](ctx, c, http.MethodPatch, in, "api", "v1", "users", id)
}

// FreezeUser refuses a user's sign-ins and tokens until UnfreezeUser.
func (c *Client) FreezeUser(ctx context.Context, id string) (User, error) {
	return call[User](ctx, c, http.MethodPost, nil, "api", "v1", "users", id, "freeze")
}

// UnfreezeUser undoes FreezeUser.
func (c *Client) UnfreezeUser(ctx context.Context, id string) (User, error) {
	return call[User](ctx, c, http.MethodPost, nil, "api", "v1", "users", id, "unfreeze")
}

// UserInvitation is a link by which an invited or provisioned user signs in for the first time.
type UserInvitation struct {
	URL       string    `json:"url"` // shown only once
	ExpiresAt time.Time `json:"expires_at"`
}

// InviteUser creates an invitation link at an app client, "" for the tenant's only one. It replaces the user's
// earlier link.
func (c *Client) InviteUser(ctx context.Context, id, appClient string) (UserInvitation, error) {
	in := struct {
		AppClient string `json:"app_client,omitempty"`
	}{appClient}
	return call[UserInvitation](ctx, c, http.MethodPost, in, "api", "v1", "users", id, "invitation")
}

// DeleteUser removes a user with their identities.
func (c *Client) DeleteUser(ctx context.Context, id string) error {
	return c.remove(ctx, "api", "v1", "users", id)
}

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
