package client

import (
	"context"
	"net/http"

	"postern/core/contract"
)

// TestProvider tests an identity provider without a user who signs in.
func (c *Client) TestProvider(ctx context.Context, provider string) (contract.Diagnosis, error) {
	return call[contract.Diagnosis](ctx, c, http.MethodPost, nil, "api", "v1", "providers", provider, "test")
}
