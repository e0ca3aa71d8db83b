package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Team is a team of the caller.
type Team struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Role      string    `json:"role"` // owner, member, viewer, or workspace for the key of an unclaimed one
	ETag      string    `json:"etag"` // for If-Match
	CreatedAt time.Time `json:"created_at"`
}

// Member is an account in a team.
type Member struct {
	Account  string    `json:"account"` // id
	Name     string    `json:"name"`
	Email    string    `json:"email"`
	Role     string    `json:"role"` // owner, member or viewer
	ETag     string    `json:"etag"` // for If-Match
	JoinedAt time.Time `json:"joined_at"`
}

// Invitation is a link to join a team. URL and Code are set only in the response to its
// creation.
type Invitation struct {
	ID        string    `json:"id"`
	Team      string    `json:"team"` // id
	Role      string    `json:"role"`
	Email     string    `json:"email"`      // "": anyone with the link may accept it
	CreatedBy string    `json:"created_by"` // id of an account
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	URL       string    `json:"url,omitempty"`
	Code      string    `json:"code,omitempty"`

	ByMail   bool       `json:"by_mail"` // the link is mailed to Email
	MailedAt *time.Time `json:"mailed_at"`
}

// Teams iterates over the caller's teams, oldest first unless the options have another order. It ends after the first
// error.
func (c *Client) Teams(ctx context.Context, options ...ListOptions) iter.Seq2[Team, error] {
	return pagesOf[Team](ctx, c, queryOf(options), "api", "v1", "teams")
}

// CreateTeam creates a team that the caller owns.
func (c *Client) CreateTeam(ctx context.Context, name string) (Team, error) {
	return call[Team](ctx, c, http.MethodPost, map[string]string{"name": name}, "api", "v1", "teams")
}

// Team returns a team by its id.
func (c *Client) Team(ctx context.Context, id string) (Team, error) {
	return call[Team](ctx, c, http.MethodGet, nil, "api", "v1", "teams", id)
}

// RenameTeam changes a team's name.
func (c *Client) RenameTeam(ctx context.Context, id, name string) (Team, error) {
	return call[Team](ctx, c, http.MethodPatch, map[string]string{"name": name}, "api", "v1", "teams", id)
}

// LeaveTeam removes the caller from a team.
func (c *Client) LeaveTeam(ctx context.Context, id string) error {
	return c.without(ctx, http.MethodPost, "api", "v1", "teams", id, "leave")
}

// Members iterates over the members of a team. It ends after the first error.
func (c *Client) Members(ctx context.Context, team string, options ...ListOptions) iter.Seq2[Member, error] {
	return pagesOf[Member](ctx, c, queryOf(options), "api", "v1", "teams", team, "members")
}

// ChangeRole sets a member's role: owner, member or viewer.
func (c *Client) ChangeRole(ctx context.Context, team, account, role string) (Member, error) {
	return call[Member](
		ctx, c, http.MethodPatch, map[string]string{"role": role}, "api", "v1", "teams", team, "members",
		account,
	)
}

// RemoveMember removes an account from a team.
func (c *Client) RemoveMember(ctx context.Context, team, account string) error {
	return c.without(ctx, http.MethodDelete, "api", "v1", "teams", team, "members", account)
}

// Invitations iterates over a team's open invitations. It ends after the first error.
func (c *Client) Invitations(ctx context.Context, team string, options ...ListOptions) iter.Seq2[Invitation, error] {
	return pagesOf[Invitation](ctx, c, queryOf(options), "api", "v1", "teams", team, "invitations")
}

// CreateInvitation creates a link to join a team. With an e-mail address, only an account
// that has it can accept the invitation.
func (c *Client) CreateInvitation(ctx context.Context, team, role, email string) (Invitation, error) {
	in := map[string]string{"role": role}
	if email != "" {
		in["email"] = email
	}
	return call[Invitation](ctx, c, http.MethodPost, in, "api", "v1", "teams", team, "invitations")
}

// RevokeInvitation revokes an invitation.
func (c *Client) RevokeInvitation(ctx context.Context, team, id string) error {
	return c.without(ctx, http.MethodDelete, "api", "v1", "teams", team, "invitations", id)
}

// AcceptInvitation joins the team of an invitation, by the code that its link
// ends with.
func (c *Client) AcceptInvitation(ctx context.Context, code string) (Team, error) {
	return call[Team](ctx, c, http.MethodPost, map[string]string{"code": code}, "api", "v1", "invitations", "accept")
}

// without sends a call whose response has no content.
func (c *Client) without(ctx context.Context, method string, segments ...string) error {
	response, err := c.send(ctx, method, nil, "", segments)
	if err != nil {
		return err
	}
	return response.Body.Close()
}
