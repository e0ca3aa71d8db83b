package exports

import (
	"context"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/service/access"
)

// Latest returns the newest export of each project, by the project's id. Projects without
// exports are absent. It fails if the principal may not read one of them. The exports have
// no ProjectName.
func (s *Service) Latest(
	ctx context.Context, p access.Principal, projectIDs []string,
) (map[string]contract.Export, error) {
	tx := s.DB.Read(ctx)
	if err := access.Projects(tx, p, projectIDs, access.ExportRead); err != nil {
		return nil, fmt.Errorf("exports: find the latest: %w", err)
	}
	rows, err := tx.LatestExports(projectIDs)
	if err != nil {
		return nil, fmt.Errorf("exports: find the latest: %w", err)
	}
	out := make(map[string]contract.Export, len(rows))
	for id, row := range rows {
		out[id] = s.shown(row, "")
	}
	return out, nil
}

// FileName returns the file name of the export's zip.
func FileName(e contract.Export) string { return fileName(e.ProjectName, e.Format) }

// NewestReady returns when the project's newest finished export was requested, nil if none
// has finished. A caller who may read the project but not its exports gets nil too.
func (s *Service) NewestReady(ctx context.Context, p access.Principal, project string) (*time.Time, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.ProjectRead)
	if err != nil {
		return nil, fmt.Errorf("exports: newest of %s: %w", project, err)
	}
	readable := access.CheckProject(p, parent, access.ExportRead) == nil
	if !readable {
		return nil, nil
	}
	at, err := tx.NewestReadyExport(parent.ID)
	if err != nil {
		return nil, fmt.Errorf("exports: newest of %s: %w", project, err)
	}
	return at, nil
}
