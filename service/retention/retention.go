// Package retention deletes projects whose time in the trash is over, and unclaimed workspaces
// some time after they have expired, with everything in them. The names of the projects are
// free again afterward.
//
// It owns the order of the deletion. How long a project stays in the trash belongs to package
// projects, when a workspace expires to package accounts, what calls are answered until then
// (410) to the gateway, and the list of the tables to package models. Audit entries stay for a
// time; one more records the deletion.
//
// It also removes old rows of what grows: docs/database.md lists all of it.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"postern/models"
	"postern/service/access"
)

const (
	rowsAtOnce = 500 // of one transaction, since SQLite has one writer
	atOnce     = 100 // teams or projects of one query
)

// Files removes the files of exports. It is not an error if there is none.
type Files interface {
	Remove(ctx context.Context, exportID string) error
}

// Events queues an event for a team's webhooks in the caller's transaction
// (webhooks.Service).
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error
}

// Trimmer removes entries of the audit log from before a time, and the chains of teams that do not exist any more
// (audit.Trimmer).
type Trimmer interface {
	Trim(ctx context.Context, before time.Time) error
	Drop(ctx context.Context, gone []models.AuditChain) error
}

// Service deletes projects and expired workspaces. Changed is called after projects were deleted, and
// returns when this process does not serve them any more.
type Service struct {
	DB      *models.DB
	Files   Files
	Grace   time.Duration // how long an expired workspace is kept
	Usage   time.Duration // how long usage is kept; 0: for ever
	Audit   time.Duration // how long entries of the audit log are kept; 0: for ever
	Revoked time.Duration // how long revoked keys are kept; 0: for ever
	Deleted time.Duration // how long the audit log of a deleted unclaimed workspace is kept; 0: as others
	Changed func(context.Context)
	Events  Events  // nil: no events
	Trimmer Trimmer // of the audit log
	Log     *slog.Logger
}

// errKept means that a workspace was claimed or a project restored in the meantime, or that
// another replica has deleted it.
var errKept = errors.New("retention: the workspace or project was claimed, restored or deleted")

// lock locks the rows of a purge until the transaction ends, and keeps them from being claimed or
// restored from then on. It returns false if that happened already, or if it does not exist.
type lock func(*models.Tx) (bool, error)

// Purge deletes the projects whose time in the trash is over, the workspaces whose grace period is over, and usage and
// audit entries that are older than they are kept. It can be stopped at any point and called again, also on several
// replicas at a time: each step is a transaction that first checks that what it deletes was not restored or claimed. A
// row that cannot be deleted does not block the rest; its error is returned at the end.
func (s *Service) Purge(ctx context.Context) error {
	return errors.Join(
		s.purgeBin(ctx),
		s.purgeWorkspaces(ctx),
		s.trimUsage(ctx),
		s.trimAudit(ctx),
		s.trimRevisions(ctx),
		s.trimKeys(ctx),
		s.trimRows(ctx),
		ctx.Err(),
	)
}

// purgeBin deletes the projects whose time in the trash is over.
func (s *Service) purgeBin(ctx context.Context) error {
	now := models.Now()
	var failed []error
	for last := ""; ctx.Err() == nil; {
		erased, err := s.DB.Read(ctx).ErasedProjects(now, last, atOnce)
		if err != nil {
			return fmt.Errorf("retention: find deleted projects: %w", err)
		}
		for _, project := range erased {
			hold := func(tx *models.Tx) (bool, error) { return tx.LockProjectForPurge(project.ID, now) }
			err := s.purgeProject(ctx, project, hold)
			if err != nil && !errors.Is(err, errKept) {
				failed = append(failed, fmt.Errorf("retention: purge project %s: %w", project.ID, err))
			}
			if err == nil {
				s.Log.InfoContext(ctx, "permanently deleted a project", "project", project.ID)
			}
			last = project.ID
		}
		if len(erased) < atOnce {
			break
		}
	}
	return errors.Join(failed...)
}

func (s *Service) purgeWorkspaces(ctx context.Context) error {
	by := models.Now().Add(-s.Grace)
	var failed []error
	for last := (models.Team{}); ctx.Err() == nil; {
		ended, err := s.DB.Read(ctx).EndedWorkspaces(by, last, atOnce)
		if err != nil {
			return fmt.Errorf("retention: find ended workspaces: %w", err)
		}
		for _, team := range ended {
			hold := func(tx *models.Tx) (bool, error) { return tx.LockTeamForPurge(team.ID, by) }
			if err := s.purge(ctx, team.ID, hold); err != nil && !errors.Is(err, errKept) {
				failed = append(failed, fmt.Errorf("retention: purge %s: %w", team.ID, err))
			}
			last = team
		}
		if len(ended) < atOnce {
			break
		}
	}
	return errors.Join(failed...)
}

func (s *Service) purge(ctx context.Context, team string, hold lock) error {
	var projects []models.Project
	err := s.step(ctx, hold, func(tx *models.Tx) (err error) {
		projects, err = tx.ProjectsOfTeam(team)
		return err
	})
	if err != nil {
		return err
	}
	for _, project := range projects {
		if err := s.purgeProject(ctx, project, hold); err != nil {
			return fmt.Errorf("project %s: %w", project.ID, err)
		}
	}
	more := func(tx *models.Tx) (bool, error) { return tx.DeleteSomeOfTeam(team, rowsAtOnce) }
	if err := s.repeat(ctx, hold, more); err != nil {
		return err
	}
	if err := s.step(ctx, hold, func(tx *models.Tx) error { return s.removeTeam(tx, team) }); err != nil {
		return err
	}
	s.Log.InfoContext(ctx, "deleted an unclaimed workspace", "workspace", team, "projects", len(projects))
	return nil
}

// purgeProject deletes a project. Its row is deleted last, because a purge that is repeated
// finds the rest by it.
func (s *Service) purgeProject(ctx context.Context, project models.Project, hold lock) error {
	if err := s.removeExports(ctx, project.ID, hold); err != nil {
		return err
	}
	stopped := func(tx *models.Tx) (bool, error) {
		n, err := tx.RemoveStoppedKeysOf(project.ID, rowsAtOnce)
		return n > 0, err
	}
	more := func(tx *models.Tx) (bool, error) { return tx.DeleteSomeOfProject(project.ID, rowsAtOnce) }
	if err := errors.Join(s.repeat(ctx, hold, stopped), s.repeat(ctx, hold, more)); err != nil {
		return err
	}
	err := s.step(ctx, hold, func(tx *models.Tx) error {
		tenants, err := tx.DeleteOwnTenants(project.ID)
		if err != nil {
			return err
		}
		if err := tx.DeleteProject(project.ID); err != nil {
			return err
		}
		if err := s.emitDeleted(ctx, tx, project, tenants); err != nil {
			return err
		}
		entry := access.Entry{
			Action: access.ProjectPurge,
			Object: project.ID,
			Team:   project.TeamID,
			Name:   project.Name,
		}
		if err := access.Record(tx, access.System(), entry); err != nil {
			return err
		}
		return tx.AddRevision(project.ID, "", models.Now())
	})
	if err == nil {
		s.Changed(ctx)
	}
	return err
}

// emitDeleted sends tenant.deleted for a project's own tenants, in the transaction that deletes
// their rows, so that a purge that is repeated does not send it twice. The webhooks of an
// unclaimed workspace, if it had any, are deleted with it.
func (s *Service) emitDeleted(
	ctx context.Context, tx *models.Tx, project models.Project, tenants []models.Tenant,
) error {
	if s.Events == nil {
		return nil
	}
	for _, tenant := range tenants {
		data := map[string]any{
			"tenant":      tenant.ID,
			"tenant_name": tenant.Name,
			"project":     project.ID,
		}
		if err := s.Events.Emit(ctx, tx, project.TeamID, "tenant.deleted", data); err != nil {
			return fmt.Errorf("retention: event of tenant %s: %w", tenant.ID, err)
		}
	}
	return nil
}

// removeExports removes each export's file before its row, because a file without a row
// could not be found again.
func (s *Service) removeExports(ctx context.Context, project string, hold lock) error {
	for {
		var exports models.List[models.Export]
		err := s.step(ctx, hold, func(tx *models.Tx) (err error) {
			exports, err = tx.ExportsOf(project, models.ExportFilter{}, models.Page{Limit: models.MaxLimit})
			return err
		})
		if err != nil || len(exports.Items) == 0 {
			return err
		}
		for _, export := range exports.Items {
			if err := s.Files.Remove(ctx, export.ID); err != nil {
				return fmt.Errorf("remove the file of export %s: %w", export.ID, err)
			}
		}
		err = s.step(ctx, hold, func(tx *models.Tx) error {
			for _, export := range exports.Items {
				if err := tx.DeleteExport(export.ID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

func (s *Service) removeTeam(tx *models.Tx, team string) error {
	left, err := tx.ProjectsOfTeam(team)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		return fmt.Errorf("%d projects were created during the purge: %s", len(left), strings.Join(names(left), ", "))
	}
	if err := tx.DeleteTeam(team); err != nil {
		return err
	}
	return access.Record(tx, access.System(), access.Entry{Action: access.WorkspacePurge, Object: team, Team: team})
}

func names(projects []models.Project) []string {
	var out []string
	for _, project := range projects {
		out = append(out, project.Name)
	}
	return out
}

// repeat repeats a step until it returns that there is no more to do.
func (s *Service) repeat(ctx context.Context, hold lock, some func(*models.Tx) (bool, error)) error {
	for more := true; more; {
		err := s.step(ctx, hold, func(tx *models.Tx) (err error) {
			more, err = some(tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// step runs fn in a transaction that locks what is purged.
func (s *Service) step(ctx context.Context, hold lock, fn func(*models.Tx) error) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		held, err := hold(tx)
		if err != nil {
			return err
		}
		if !held {
			return errKept
		}
		return fn(tx)
	})
}
