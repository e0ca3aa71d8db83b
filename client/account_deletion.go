package client

import (
	"context"
	"net/http"
)

// AccountDeletion is what deleting the caller's account takes along, and what is in its way.
type AccountDeletion struct {
	Email        string   `json:"email"`
	Teams        []string `json:"teams"`
	OnlyOwner    []string `json:"only_owner"`
	LastOperator bool     `json:"last_operator"`
	Password     bool     `json:"password"`
}

// AccountDeletion returns what deleting the caller's account takes along.
func (c *Client) AccountDeletion(ctx context.Context) (AccountDeletion, error) {
	return call[AccountDeletion](ctx, c, http.MethodGet, nil, "api", "v1", "account", "deletion")
}

// DeleteAccount removes the caller's account for good. confirm is its e-mail address.
func (c *Client) DeleteAccount(ctx context.Context, confirm, password string) error {
	in := map[string]string{"confirm": confirm, "password": password}
	_, err := call[struct{}](ctx, c, http.MethodPost, in, "api", "v1", "account", "delete")
	return err
}
