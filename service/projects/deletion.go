package projects

import (
	"context"
	"fmt"

	"postern/models"
	"postern/service/access"
)

// Deletion is what deleting a project takes along.
type Deletion struct {
	Project  Project
	Contents models.ProjectContents
}

// Deletion counts what deleting a project takes along. Its audit entries stay.
func (s *Service) Deletion(ctx context.Context, p access.Principal, ref string) (Deletion, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, ref, access.ProjectRead)
	if err != nil {
		return Deletion{}, fmt.Errorf("projects: what %s has: %w", ref, err)
	}
	var out Deletion
	if out.Project, err = view(tx, row); err == nil {
		out.Contents, err = tx.ContentsOf(row, models.Now())
	}
	if err != nil {
		return Deletion{}, fmt.Errorf("projects: what %s has: %w", ref, err)
	}
	return out, nil
}
