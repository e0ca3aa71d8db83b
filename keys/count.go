package keys

import (
	"context"
	"fmt"

	"postern/access"
	"postern/models"
)

// Count counts a project's keys of any state.
func (s *Service) Count(ctx context.Context, p access.Principal, project string) (int64, error) {
	tx := s.DB.Read(ctx)
	parent, err := access.Project(tx, p, project, access.KeyRead)
	if err != nil {
		return 0, fmt.Errorf("keys: count those of %s: %w", project, err)
	}
	n, err := tx.CountKeys(parent.ID)
	if err != nil {
		return 0, fmt.Errorf("keys: count those of %s: %w", project, err)
	}
	return n, nil
}

// ActiveCounts counts the active keys of each project, named by its id. It is
// refused as a whole when one of them may not be seen.
func (s *Service) ActiveCounts(ctx context.Context, p access.Principal, projectIDs []string) (map[string]int64, error) {
	tx := s.DB.Read(ctx)
	if err := access.Projects(tx, p, projectIDs, access.KeyRead); err != nil {
		return nil, fmt.Errorf("keys: count active ones: %w", err)
	}
	counts, err := tx.CountActiveKeys(projectIDs, models.Now())
	if err != nil {
		return nil, fmt.Errorf("keys: count active ones: %w", err)
	}
	return counts, nil
}
