// Package search serves the search for projects, keys, tenants and users, and the list of keyboard shortcuts.
//
// It leaves the search itself and permissions to the services of what is found.
package search

import (
	"postern/handlers/page"
	"postern/service/directory"
	"postern/service/keys"
	"postern/service/projects"
)

// Handler serves the pages of the search.
type Handler struct {
	Directory *directory.Service
	Keys      *keys.Service
	Projects  *projects.Service
}

// Mount mounts the pages of the search.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", searchPath, h.showSearch)
	p.SignedIn("POST", searchPath, h.showSearch, "project q")
	p.SignedIn("GET", "/shortcuts", h.showShortcuts)
}
