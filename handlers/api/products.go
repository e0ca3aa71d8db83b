package api

import (
	"context"
	"time"

	"postern/handlers/web"
	"postern/service/projects"
)

// ProductRef is the path parameter of a product.
type ProductRef struct {
	Product string `path:"product" doc:"Name or id"`
}

type productOutput struct {
	ID          string    `json:"id"`
	Team        string    `json:"team" doc:"Id"`
	Name        string    `json:"name"`
	DisplayName string    `json:"display_name"`
	Projects    []string  `json:"projects" doc:"Names of its projects; a key of the product opens all of them"`
	ETag        string    `json:"etag" doc:"Send as If-Match to update the product"`
	CreatedAt   time.Time `json:"created_at"`
}

func showProduct(p projects.Product) productOutput {
	return productOutput{
		ID:          p.ID,
		Team:        p.Team,
		Name:        p.Name,
		DisplayName: p.DisplayName,
		Projects:    orNone(p.Projects),
		ETag:        web.FormatETag(p.ETag),
		CreatedAt:   p.CreatedAt.UTC(),
	}
}

// orNone returns an empty list for nil, so that JSON shows [] and not null.
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
	return &tagged[productOutput]{web.FormatETag(p.ETag), showProduct(p)}, nil
}

func (h *Handler) listProducts(ctx context.Context, in *inTeam) (*body[list[productOutput]], error) {
	found, err := h.Projects.Products(ctx, web.Principal(ctx), in.Team, in.page())
	return answerPage(found, err, showProduct)
}

func (h *Handler) createProduct(ctx context.Context, in *struct {
	Body struct {
		Team        string `json:"team,omitempty" minLength:"1" doc:"Id of the owning team; default: the caller's first"`
		Name        string `json:"name" doc:"Cannot be changed later"`
		DisplayName string `json:"display_name,omitempty" doc:"Default: name"`
	}
}) (*tagged[productOutput], error) {
	return taggedProduct(h.Projects.CreateProduct(ctx, web.Principal(ctx), projects.ProductInput(in.Body)))
}

func (h *Handler) getProduct(ctx context.Context, in *ProductRef) (*tagged[productOutput], error) {
	return taggedProduct(h.Projects.Product(ctx, web.Principal(ctx), in.Product))
}

func (h *Handler) updateProduct(ctx context.Context, in *struct {
	ProductRef
	IfMatch string `header:"If-Match"`
	Body    struct {
		DisplayName string `json:"display_name"`
	}
}) (*tagged[productOutput], error) {
	etag := web.ParseIfMatch(in.IfMatch)
	return taggedProduct(h.Projects.UpdateProduct(ctx, web.Principal(ctx), in.Product, etag, in.Body.DisplayName))
}
