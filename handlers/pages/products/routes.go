// Package products serves the pages of a team's products.
//
// It leaves products and permissions to service/projects.
package products

import (
	"postern/handlers/page"
	"postern/service/projects"
)

// Handler serves the pages of products.
type Handler struct {
	Projects *projects.Service
}

// Mount mounts the pages of products.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", productsPath, h.showProducts)
	p.SignedIn("POST", productsPath, h.createProduct, "display_name name team")
	p.SignedIn("GET", productsPath+"/:product", h.showProduct)
	p.SignedIn("POST", productsPath+"/:product", h.renameProduct, "display_name")
	p.SignedIn("POST", productsPath+"/:product/delete", h.deleteProduct)
}
