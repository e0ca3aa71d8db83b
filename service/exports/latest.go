package exports

import (
	"context"
	"fmt"

	"postern/service/access"
)

// Latest maps each project, named by its id, to its newest export; one without
// exports is absent. It is refused as a whole when one may not be seen. The
// exports come without ProjectName.
func (s *Service) Latest(ctx context.Context, p access.Principal, projectIDs []string) (map[string]Export, error) {
	tx := s.DB.Read(ctx)
	if err := access.Projects(tx, p, projectIDs, access.ExportRead); err != nil {
		return nil, fmt.Errorf("exports: find the latest: %w", err)
	}
	rows, err := tx.LatestExports(projectIDs)
	if err != nil {
		return nil, fmt.Errorf("exports: find the latest: %w", err)
	}
	out := make(map[string]Export, len(rows))
	for id, row := range rows {
		out[id] = view(row, "")
	}
	return out, nil
}

// FileName is what the export's zip is called where it is saved.
func (e Export) FileName() string { return fileName(e.ProjectName, e.Format) }
