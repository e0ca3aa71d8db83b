package client

import (
	"context"
	"net/http"
)

// Profile is the name and the e-mail address of the caller's account.
type Profile struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Email       string `json:"email"`
	Unconfirmed string `json:"unconfirmed_email"` // new address whose link has not been opened yet
}

// ProfileChange changes the caller's account. Nil fields stay as they are. A new address needs the password.
type ProfileChange struct {
	Name     *string `json:"name,omitempty"`
	Email    *string `json:"email,omitempty"`
	Password string  `json:"password,omitempty"`
}

// UpdateAccount changes the name or the e-mail address of the caller's account.
func (c *Client) UpdateAccount(ctx context.Context, in ProfileChange) (Profile, error) {
	return call[Profile](ctx, c, http.MethodPatch, in, "api", "v1", "account")
}
