package client

import (
	"context"
	"iter"
	"net/http"
	"time"
)

// Product is a team's grouping of projects.
type Product struct {
	ID          string    `json:"id"`
	Team        string    `json:"team"` // id
	Name        string    `json:"name"`
	DisplayName string    `json:"display_name"`
	Projects    []string  `json:"projects"` // names
	ETag        string    `json:"etag"`     // for If-Match
	CreatedAt   time.Time `json:"created_at"`
}

// NewProduct asks for a product of the caller's team.
type NewProduct struct {
	Team        string `json:"team,omitempty"` // id; the caller's first when empty
	Name        string `json:"name"`
	DisplayName string `json:"display_name,omitempty"`
}

// Products iterates over the products of the caller's teams.
func (c *Client) Products(ctx context.Context, options ...ListOptions) iter.Seq2[Product, error] {
	return pagesOf[Product](ctx, c, queryOf(options), "api", "v1", "products")
}

// Product returns a product by name or id.
func (c *Client) Product(ctx context.Context, product string) (Product, error) {
	return call[Product](ctx, c, http.MethodGet, nil, "api", "v1", "products", product)
}

// CreateProduct creates a product.
func (c *Client) CreateProduct(ctx context.Context, in NewProduct) (Product, error) {
	return call[Product](ctx, c, http.MethodPost, in, "api", "v1", "products")
}

// RenameProduct gives a product another display name.
func (c *Client) RenameProduct(ctx context.Context, product, displayName string) (Product, error) {
	return call[Product](
		ctx, c, http.MethodPatch, map[string]string{"display_name": displayName}, "api", "v1", "products",
		product,
	)
}
