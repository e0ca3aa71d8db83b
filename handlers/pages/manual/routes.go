// Package manual serves the documentation, with the reference of the JSON API.
//
// It leaves the texts and their rendering to docs.
package manual

import (
	"postern/handlers/page"
	"postern/handlers/web"
)

// Handler serves the pages of the documentation.
type Handler struct {
	Document func() ([]byte, error) // returns the OpenAPI document of the JSON API
	Web      *web.Site

	manual manual
}

// Mount mounts the pages of the documentation.
func (h *Handler) Mount(p page.Router) {
	p.Open("GET", "/docs", h.showDocs)
	p.Open("GET", "/docs/:page", h.showDocsPage)
	p.Open("GET", "/docs/reference/:tag", h.showReference)
}
