package exports

import (
	"context"
	"fmt"

	"postern/core/contract"
	"postern/service/access"
)

// Latest returns the newest export of each project, by the project's ID. Projects without exports are absent. It fails
// if the principal may not read one of the projects. It doesn't set ProjectName.
func (s *Service) Latest(
	ctx context.Context, p access.Principal, projectIDs []string,
) (map[string]contract.Export, error) {
	tx := s.DB.Read(ctx)
	if err := access.Projects(tx, p, projectIDs, access.ExportRead); err != nil {
		return nil, fmt.Errorf("exports: find the latest exports: %w", err)
	}
	rows, err := tx.LatestExports(projectIDs)
	if err != nil {
		return nil, fmt.Errorf("exports: find the latest exports: %w", err)
	}
	out := make(map[string]contract.Export, len(rows))
	for id, row := range rows {
		out[id] = s.shown(row, "")
	}
	return out, nil
}

// FileName returns the file name of the export's zip.
func FileName(e contract.Export) string { return fileName(e.ProjectName, e.Format) }
