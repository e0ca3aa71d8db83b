package access

import (
	"slices"

	"postern/models"
	"postern/platform/fault"
)

// inBin lists the actions that are possible on a project in the trash: read it, export it, restore it and delete it
// permanently.
var inBin = []Action{
	ProjectRead,
	ProjectDelete,
	ProjectErase,
	ProjectRestore,
	KeyRead,
	ExportRead,
	ExportCreate,
	ExportDownload,
	ExportMinted,
	AuditRead,
	UsageRead,
	LoginRead,
	UserRead,
	TenantRead,
}

// Erased reports whether a project was permanently deleted from the trash. Its rows may not all be gone yet.
func Erased(project models.Project) bool {
	return project.PurgeAt != nil && !project.PurgeAt.After(models.Now())
}

// checkBin refuses changes of a project in the trash with a fault project_deleted. A project
// that is being purged counts as not found.
func checkBin(project models.Project, action Action) error {
	switch {
	case project.DeletedAt == nil:
		return nil
	case Erased(project):
		return errNotFound
	case slices.Contains(inBin, action):
		return nil
	}
	return fault.New(fault.Conflict, "project_deleted", "The project %s is in the trash until %s. Restore it and try "+
		"again.", project.Name, project.PurgeAt.UTC().Format("2 January 2006"))
}
