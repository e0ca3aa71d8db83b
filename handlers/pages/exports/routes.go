// Package exports serves the pages that export a project, with its ledger, and that import one.
//
// It leaves the zip to service/exports and service/imports.
package exports

import (
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/exports"
	"postern/service/imports"
	"postern/service/movein"
	"postern/service/projects"
)

// Handler serves the pages of exports and imports.
type Handler struct {
	Exports  *exports.Service
	Imports  *imports.Service
	Plans    *movein.Plans
	Projects *projects.Service
	Web      *web.Site
}

// Mount mounts the pages of exports and imports.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", "/imports", h.showImport)
	p.SignedIn("POST", "/imports", h.importProject, "name zip")
	p.SignedIn("POST", "/imports/preview", h.previewImport, "name zip")
	p.SignedIn("POST", "/imports/plan", h.createPlan, "file")
	p.SignedIn("GET", "/imports/:import", h.showPlan)
	p.SignedIn("POST", "/imports/:import", h.changePlan,
		"allow_weak hosts name open placeholder placeholder_value retry_on_timeout theirs trust")
	p.SignedIn("GET", "/imports/:import/download", h.downloadPlan)
	p.SignedIn("POST", "/imports/:import/apply", h.applyPlan)
	p.SignedIn("POST", "/imports/:import/delete", h.deletePlan)
	p.SignedIn("POST", "/imports/:import/undo", h.undoImport)
	p.SignedIn("GET", "/projects/:project/export", h.showExportForm)
	p.SignedIn("POST", "/projects/:project/export", h.startExport, "consumers format keys password recipient secrets")
	p.SignedIn("GET", "/projects/:project/export/preview", h.previewExport)
	p.SignedIn("GET", "/exports/:export", h.showExport)
	p.SignedIn("GET", "/exports/:export/ledger", h.showLedger)
	p.SignedInOnce("/exports/:export/ledger/download", h.downloadLedger)
	p.SignedInOnce("/exports/:export/download", h.downloadPage) // every download is recorded, which HEAD is not
	p.SignedIn("POST", "/exports/:export/cancel", h.cancelExport)
}
