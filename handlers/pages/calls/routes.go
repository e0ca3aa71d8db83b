// Package calls serves what is known about a project's calls: usage, the log of requests, and explanations of answers.
//
// It leaves counting and permissions to service/usage, and explanations to service/projects.
package calls

import (
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/projects"
	"postern/service/usage"
)

// Handler serves the pages about calls.
type Handler struct {
	Projects *projects.Service
	Usage    *usage.Service
	Web      *web.Site
}

// Mount mounts the pages about calls.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", "/projects/:project/usage", h.showUsage)
	p.SignedIn("GET", "/projects/:project/usage.csv", h.downloadUsage)
	p.SignedIn("GET", "/projects/:project/requests", h.showRequests)
	p.SignedIn("GET", "/projects/:project/requests/:request", h.showRequest)
	p.SignedIn("GET", "/projects/:project/explain", h.showExplain)
}
