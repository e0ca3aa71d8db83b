package projects

import (
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// Deletion counts what deleting a project deletes too. Its audit entries stay. A caller who may not read exports learns
// of no newest one.
func (s *Service) Deletion(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.ProjectDeletion, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return contract.ProjectDeletion{}, fmt.Errorf("projects: list the contents of %s: %w", in.Project, err)
	}
	out, err := tx.ContentsOf(row, models.Now())
	if err == nil && access.CheckProject(p, row, access.ExportRead) == nil {
		out.NewestExport, err = tx.NewestReadyExport(row.ID)
	}
	if err != nil {
		return contract.ProjectDeletion{}, fmt.Errorf("projects: list the contents of %s: %w", in.Project, err)
	}
	out.NewestExport = contract.UTC(out.NewestExport)
	return out, nil
}
