package contract

import (
	"net/http"
	"time"
)

// ProductPath is the path parameter of a product.
type ProductPath struct {
	Product string `path:"product" doc:"Name or id"`
}

// Product is a team's group of projects.
type Product struct {
	ID          string    `json:"id"`
	Team        string    `json:"team" doc:"Id" audit:"-"`
	Name        string    `json:"name"`
	DisplayName string    `json:"display_name"`
	Projects    []string  `json:"projects" doc:"Names of its projects; a key of the product is valid for all of them"`
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
	Sort string `query:"sort" enum:"name,-name,created,-created" doc:"Order; - begins at the end"`
	Text string `query:"q" flag:"search" maxLength:"200" doc:"Part of the name or the display name, ignoring case"`
	Team string `query:"team" doc:"Id of a team; default: all teams of the caller"`
}

// NewProduct is a product to be created.
type NewProduct struct {
	Team        string `json:"team,omitempty" minLength:"1" doc:"Id of the owning team; default: the caller's first"`
	Name        string `json:"name" doc:"Cannot be changed later"`
	DisplayName string `json:"display_name,omitempty" doc:"Name for people; default: name"`
}

// ProductCreation is a request for a new product.
type ProductCreation struct{ Body NewProduct }

// ProductChange changes a product; nil leaves a member as it is.
type ProductChange struct {
	DisplayName *string `json:"display_name,omitempty" doc:"Name for people"`
}

// ProductUpdate is a request to change a product.
type ProductUpdate struct {
	ProductPath
	Condition
	Body ProductChange
}

// ProductDeletion is what deleting a product changes. Its projects stay.
type ProductDeletion struct {
	Projects   []string `json:"projects" doc:"Names of its projects; they stay"`
	Keys       int64    `json:"keys" doc:"Valid for all of its projects, including revoked ones"`
	ActiveKeys int64    `json:"active_keys"`
}

// ProductRemoval is a request to delete a product.
type ProductRemoval struct {
	ProductPath
	Confirm string `query:"confirm" flag:"-" doc:"The product's name: its projects leave it and its keys are revoked"`
}

const (
	products = "/api/v1/products"
	product  = products + "/{product}"
)

// The operations on products.
var (
	ListProducts = Op[TeamList, List[Product]]{Operation{
		ID: "list-products", Method: http.MethodGet, Path: products, Summary: "List products",
		Command: "products list", Permission: ReadProducts,
		Doc: "Lists the products of your teams by name.",
	}}
	CreateProduct = Op[ProductCreation, Product]{Operation{
		ID: "create-product", Method: http.MethodPost, Path: products, Status: http.StatusCreated,
		Summary: "Create a product", Command: "products create NAME", Permission: CreateProducts,
		Example: "products create store --display-name Store",
		Doc:     "A product's keys are valid for all of its projects.",
	}}
	GetProduct = Op[ProductPath, Product]{Operation{
		ID: "get-product", Method: http.MethodGet, Path: product, Summary: "Get a product", Permission: ReadProducts,
		Command: "products show PRODUCT",
		Doc:     "Has the product with the projects in it.",
	}}
	UpdateProduct = Op[ProductUpdate, Product]{Operation{
		ID: "update-product", Method: http.MethodPatch, Path: product, Summary: "Update a product",
		Command: "products update PRODUCT", Example: "products update store --display-name Store",
		Permission: UpdateProducts,
		Doc:        "Changes only what you send. The name is part of no address and can change.",
	}}
	DeleteProduct = Op[ProductRemoval, None]{Operation{
		ID: "delete-product", Method: http.MethodDelete, Path: product, Status: http.StatusNoContent,
		Summary: "Delete a product; with confirm, revoke its keys and let its projects leave it",
		Command: "products delete PRODUCT", Example: "products delete store --yes",
		Permission: DeleteProducts,
		Doc: "Without confirm, a product with projects or keys is not deleted. With confirm its keys are " +
			"revoked, and its projects leave it.",
	}}
	GetProductDeletion = Op[ProductPath, ProductDeletion]{Operation{
		ID: "get-product-deletion", Method: http.MethodGet, Path: product + "/deletion", Permission: ReadProducts,
		Summary: "Count what deleting a product changes",
		Doc:     "Changes nothing: it has the numbers that the page shows before it asks for confirmation.",
	}}
)

var productOperations = []Described{
	ListProducts, CreateProduct, GetProduct, UpdateProduct, DeleteProduct, GetProductDeletion,
}
