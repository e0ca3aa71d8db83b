package projects

import (
	"context"
	"fmt"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// BinTime is how long a deleted project can be restored.
const BinTime = 30 * 24 * time.Hour

// Purger deletes projects whose time in the trash has ended.
type Purger interface {
	// EnqueuePurge runs the purge soon after tx commits.
	EnqueuePurge(ctx context.Context, tx *models.Tx) error
}

// Delete moves a project to the trash for BinTime. It takes effect on the gateway immediately. A project that is
// already in the trash stays unchanged. With Now, it permanently deletes a project, whether it is in the trash or not:
// a job deletes its rows and files soon after, and then the name can be used again.
func (s *Service) Delete(
	ctx context.Context, p access.Principal, in contract.ProjectRemoval,
) (contract.Project, error) {
	if in.Now {
		return s.erase(ctx, p, in)
	}
	return s.moveBin(ctx, p, in.Project, access.ProjectDelete, func(tx *models.Tx, row models.Project) (bool, error) {
		if row.DeletedAt != nil {
			return false, nil
		}
		now := models.Now()
		return true, orConflict(tx.BinProject(row.ID, now, now.Add(BinTime)))
	})
}

// Restore takes a project out of the trash with everything that belongs to it. A project that isn't in the trash stays
// unchanged.
func (s *Service) Restore(
	ctx context.Context, p access.Principal, in contract.ProjectPath,
) (contract.Project, error) {
	return s.moveBin(ctx, p, in.Project, access.ProjectRestore, func(tx *models.Tx, row models.Project) (bool, error) {
		if row.DeletedAt == nil {
			return false, nil
		}
		return true, orConflict(tx.UnbinProject(row.ID, models.Now()))
	})
}

// erase deletes a project permanently.
func (s *Service) erase(
	ctx context.Context, p access.Principal, in contract.ProjectRemoval,
) (contract.Project, error) {
	return s.moveBin(ctx, p, in.Project, access.ProjectErase, func(tx *models.Tx, row models.Project) (bool, error) {
		if in.Confirm != row.Name {
			return false, fault.InvalidField("/confirm", "wrong_confirmation",
				"To confirm, type the project's name, %s. In the API, send ?confirm=%[1]s.", row.Name)
		}
		now := models.Now()
		if row.DeletedAt == nil {
			if err := orConflict(tx.BinProject(row.ID, now, now)); err != nil {
				return false, err
			}
		} else if err := orConflict(tx.EraseProject(row.ID, now)); err != nil {
			return false, err
		}
		return true, s.Purger.EnqueuePurge(ctx, tx)
	})
}

// moveBin moves a project into the bin or out of it, by fn, which returns false if there was
// nothing to do.
func (s *Service) moveBin(
	ctx context.Context, p access.Principal, ref string, action access.Action,
	fn func(*models.Tx, models.Project) (bool, error),
) (contract.Project, error) {
	var out Project
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, err := access.Project(tx, p, ref, action)
		if err != nil {
			return err
		}
		before, err := s.view(tx, row)
		if err != nil {
			return err
		}
		moved, err := fn(tx, row)
		if err != nil || !moved {
			out = before
			return err
		}
		if out, err = s.viewOf(tx, row.ID); err != nil {
			return err
		}
		err = access.Record(tx, p, access.Entry{
			Action: action,
			Object: row.ID,
			Team:   row.TeamID,
			Name:   row.Name,
			Before: before,
			After:  out,
		})
		if err != nil {
			return err
		}
		return reviseWithProduct(tx, row)
	})
	if err != nil {
		return contract.Project{}, fmt.Errorf("projects: %s of %s: %w", action, ref, err)
	}
	s.Changed(ctx)
	return out.Project, nil
}

// reviseWithProduct writes a revision for the project and, since keys of the product that
// were created in it open them too, for the other projects of its product.
func reviseWithProduct(tx *models.Tx, row models.Project) error {
	now := models.Now()
	if row.ProductID != nil {
		near, err := tx.ProjectsOfProduct(*row.ProductID)
		if err != nil {
			return err
		}
		for _, project := range near {
			if project.ID == row.ID {
				continue
			}
			if err := tx.AddRevision(project.ID, "", now); err != nil {
				return err
			}
		}
	}
	return tx.AddRevision(row.ID, "", now)
}

// orConflict returns a conflict if another request deleted or restored the project first.
func orConflict(ok bool, err error) error {
	if err == nil && !ok {
		return fault.New(fault.Conflict, "changed_concurrently",
			"The project was just deleted or restored. Reload it and try again.")
	}
	return err
}
