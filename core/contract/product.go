package contract

import (
	"net/http"
	"time"
)

// ProductPath is the path parameter of a product.
type ProductPath struct {
	Product string `path:"product" doc:"Name or ID of the product"`
}

// Product is a team's group of projects.
type Product struct {
	ID          string    `json:"id"`
	Team        string    `json:"team" doc:"ID of the owning team" audit:"-"`
	Name        string    `json:"name"`
	DisplayName string    `json:"display_name"`
	Projects    []string  `json:"projects" doc:"Names of its projects. A key of the product is valid for all of them"`
	ETag        string    `json:"etag" doc:"Send as If-Match to update the product" audit:"-"`
	CreatedAt   time.Time `json:"created_at"`
}

// Path returns its path parameter.
func (p Product) Path() ProductPath { return ProductPath{Product: p.ID} }

// Tag returns the product's ETag.
func (p Product) Tag() string { return p.ETag }

// TeamList is a request for what teams have: products or tenants.
type TeamList struct {
	Page
	Sort string `query:"sort" enum:"name,-name,created,-created" doc:"Sort order. A leading - means descending. Defaults to created"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Text to find in the name or display name, ignoring case"`
	Team string `query:"team" id:"team" doc:"ID of a team. Defaults to all your teams"`
}

// NewProduct is a product to be created.
type NewProduct struct {
	Team        string `json:"team,omitempty" minLength:"1" id:"team" doc:"ID of the owning team. Defaults to your first team"`
	Name        string `json:"name" slug:"true" doc:"Name of the product. Can't be changed later"`
	DisplayName string `json:"display_name,omitempty" doc:"Display name. Defaults to the name"`
}

// ProductCreation is a request for a new product.
type ProductCreation struct{ Body NewProduct }

// ProductChange changes a product; nil leaves a member unchanged.
type ProductChange struct {
	DisplayName *string `json:"display_name,omitempty" doc:"Display name"`
}

// ProductUpdate is a request to change a product.
type ProductUpdate struct {
	ProductPath
	Condition
	Body ProductChange
}

// ProductDeletion lists what deleting a product changes. Its projects stay.
type ProductDeletion struct {
	Projects   []string `json:"projects" doc:"Names of its projects. They aren't deleted"`
	Keys       int64    `json:"keys" doc:"Number of keys valid for all of its projects, including revoked keys"`
	ActiveKeys int64    `json:"active_keys"`
}

// ProductRemoval is a request to delete a product.
type ProductRemoval struct {
	ProductPath
	Confirm string `query:"confirm" flag:"-" doc:"Name of the product. Required if it has projects or keys"`
}

const (
	products = "/api/v1/products"
	product  = products + "/{product}"
)

// The operations on products.
var (
	ListProducts = &Op[TeamList, List[Product]]{Operation{
		ID: "list-products", Method: http.MethodGet, Path: products, Summary: "List products",
		Command: "products list", Permission: ReadProducts,
		Doc: "Lists your teams' products.",
	}}
	CreateProduct = &Op[ProductCreation, Product]{Operation{
		ID: "create-product", Method: http.MethodPost, Path: products, Status: http.StatusCreated,
		Summary: "Create a product", Command: "products create NAME", Permission: CreateProducts,
		Example: "products create store --display-name Store",
		Doc:     "A product's keys are valid for all of its projects.",
	}}
	GetProduct = &Op[ProductPath, Product]{Operation{
		ID: "get-product", Method: http.MethodGet, Path: product, Summary: "Get a product", Permission: ReadProducts,
		Command: "products show PRODUCT",
		Doc:     "Returns the product with its projects.",
	}}
	UpdateProduct = &Op[ProductUpdate, Product]{Operation{
		ID: "update-product", Method: http.MethodPatch, Path: product, Summary: "Update a product",
		Command: "products update PRODUCT", Example: "products update store --display-name Store",
		Permission: UpdateProducts,
		Doc:        "Changes only the fields you send. The name can't be changed.",
	}}
	DeleteProduct = &Op[ProductRemoval, None]{Operation{
		ID: "delete-product", Deletes: "product",
		Method: http.MethodDelete, Path: product, Status: http.StatusNoContent,
		Summary: "Delete a product",
		Command: "products delete PRODUCT", Example: "products delete store --yes",
		Permission: DeleteProducts,
		Doc: "Requires confirm if the product has projects or keys. The product's keys are revoked. Its projects " +
			"aren't deleted.",
	}}
	GetProductDeletion = &Op[ProductPath, ProductDeletion]{Operation{
		ID: "get-product-deletion", Method: http.MethodGet, Path: product + "/deletion", Permission: ReadProducts,
		Summary: "Preview the effects of deleting a product",
		Doc:     "Changes nothing. Use it to show the consequences before you ask for confirmation.",
	}}
)

var productOperations = []Described{
	ListProducts, CreateProduct, GetProduct, UpdateProduct, DeleteProduct, GetProductDeletion,
}
