package handlers

import (
	"context"
	"time"

	"postern/service/projects"
)

// ProductRef is the path of one product.
type ProductRef struct {
	Product string `path:"product" doc:"Name or id"`
}

type productOutput struct {
	ID          string    `json:"id"`
	Team        string    `json:"team" doc:"Id"`
	Name        string    `json:"name"`
	DisplayName string    `json:"display_name"`
	Projects    []string  `json:"projects" doc:"Names of the projects in it, all of which a key of the product opens"`
	ETag        string    `json:"etag" doc:"For If-Match when this product is changed"`
	CreatedAt   time.Time `json:"created_at"`
}

func showProduct(p projects.Product) productOutput {
	return productOutput{ID: p.ID, Team: p.Team, Name: p.Name, DisplayName: p.DisplayName, Projects: orNone(p.Projects), ETag: quoteTag(p.ETag), CreatedAt: p.CreatedAt.UTC()}
}

// orNone shows nothing as an empty list.
func orNone(names []string) []string {
	if names == nil {
		return []string{}
	}
	return names
}

func taggedProduct(p projects.Product, err error) (*tagged[productOutput], error) {
	if err != nil {
		return nil, err
	}
	return &tagged[productOutput]{quoteTag(p.ETag), showProduct(p)}, nil
}

func (s *Server) listProducts(ctx context.Context, in *inTeam) (*body[list[productOutput]], error) {
	found, next, err := s.Projects.Products(ctx, principalOf(ctx), in.Team, in.Cursor, in.Limit)
	if err != nil {
		return nil, err
	}
	var items []productOutput
	for _, p := range found {
		items = append(items, showProduct(p))
	}
	return &body[list[productOutput]]{listOf(items, next)}, nil
}

func (s *Server) createProduct(ctx context.Context, in *struct {
	Body struct {
		Team        string `json:"team,omitempty" doc:"Id of the caller's team that it belongs to; the first one when absent"`
		Name        string `json:"name" doc:"Fixed from then on"`
		DisplayName string `json:"display_name,omitempty" doc:"The name when absent"`
	}
}) (*tagged[productOutput], error) {
	return taggedProduct(s.Projects.CreateProduct(ctx, principalOf(ctx), projects.ProductInput(in.Body)))
}

func (s *Server) getProduct(ctx context.Context, in *ProductRef) (*tagged[productOutput], error) {
	return taggedProduct(s.Projects.Product(ctx, principalOf(ctx), in.Product))
}

func (s *Server) updateProduct(ctx context.Context, in *struct {
	ProductRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		DisplayName string `json:"display_name"`
	}
}) (*tagged[productOutput], error) {
	return taggedProduct(s.Projects.UpdateProduct(ctx, principalOf(ctx), in.Product, unquoteTag(in.IfMatch), in.Body.DisplayName))
}

func (s *Server) deleteProduct(ctx context.Context, in *ProductRef) (*struct{}, error) {
	return nil, s.Projects.DeleteProduct(ctx, principalOf(ctx), in.Product)
}
