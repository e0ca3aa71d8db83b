// Package audit serves the audit log of a team, in sentences.
//
// It leaves the entries and who may read them to service/audit.
package audit

import (
	"postern/handlers/page"
	"postern/service/audit"
)

// Handler serves the pages of the audit log.
type Handler struct {
	Audit *audit.Service
}

// Mount mounts the pages of the audit log.
func (h *Handler) Mount(p page.Router) {
	p.SignedIn("GET", page.AuditPath, h.showAudit)
}
