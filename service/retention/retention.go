// Package retention deletes unclaimed workspaces some time after they have expired, with
// everything in them. The names of their projects are free again afterwards.
//
// It owns the time and the order of the deletion. When a workspace expires belongs to
// package accounts, what its projects answer until then (410) to the gateway, and the list
// of its tables to package models. Audit entries stay; one more records the deletion.
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
	rowsAtOnce  = 500 // of one transaction, since SQLite has one writer
	teamsAtOnce = 100 // of one query
)

// Files removes the files of exports. It is not an error if there is none.
type Files interface {
	Remove(exportID string) error
}

// Service deletes expired workspaces. Changed is called after projects were deleted, and
// returns when this process does not serve them any more.
type Service struct {
	DB      *models.DB
	Files   Files
	Grace   time.Duration // how long an expired workspace is kept
	Changed func(context.Context)
	Log     *slog.Logger
}

// errClaimed means that a workspace was claimed or deleted meanwhile.
var errClaimed = errors.New("retention: the workspace was claimed or deleted")

// Purge deletes the workspaces whose grace period is over. It can be stopped at any point
// and called again, also on several replicas at a time: each step is a transaction that
// first checks that the workspace is unclaimed. A workspace that cannot be deleted does
// not block the others; its error is returned at the end.
func (s *Service) Purge(ctx context.Context) error {
	by := models.Now().Add(-s.Grace)
	var failed []error
	for last := (models.Team{}); ctx.Err() == nil; {
		ended, err := s.DB.Read(ctx).EndedWorkspaces(by, last, teamsAtOnce)
		if err != nil {
			return fmt.Errorf("retention: find ended workspaces: %w", err)
		}
		for _, team := range ended {
			if err := s.purge(ctx, team.ID, by); err != nil && !errors.Is(err, errClaimed) {
				failed = append(failed, fmt.Errorf("retention: purge %s: %w", team.ID, err))
			}
			last = team
		}
		if len(ended) < teamsAtOnce {
			break
		}
	}
	return errors.Join(append(failed, ctx.Err())...)
}

func (s *Service) purge(ctx context.Context, team string, by time.Time) error {
	var projects []models.Project
	err := s.step(ctx, team, by, func(tx *models.Tx) (err error) {
		projects, err = tx.ProjectsOfTeam(team)
		return err
	})
	if err != nil {
		return err
	}
	for _, project := range projects {
		if err := s.purgeProject(ctx, team, by, project); err != nil {
			return fmt.Errorf("project %s: %w", project.ID, err)
		}
	}
	more := func(tx *models.Tx) (bool, error) { return tx.DeleteSomeOfTeam(team, rowsAtOnce) }
	if err := s.repeat(ctx, team, by, more); err != nil {
		return err
	}
	if err := s.step(ctx, team, by, func(tx *models.Tx) error { return s.removeTeam(tx, team) }); err != nil {
		return err
	}
	s.Log.Info("an unclaimed workspace was deleted", "workspace", team, "projects", len(projects))
	return nil
}

// purgeProject deletes a project. Its row is deleted last, because a purge that is repeated
// finds the rest by it.
func (s *Service) purgeProject(ctx context.Context, team string, by time.Time, project models.Project) error {
	if err := s.removeExports(ctx, team, by, project.ID); err != nil {
		return err
	}
	more := func(tx *models.Tx) (bool, error) { return tx.DeleteSomeOfProject(project.ID, rowsAtOnce) }
	if err := s.repeat(ctx, team, by, more); err != nil {
		return err
	}
	err := s.step(ctx, team, by, func(tx *models.Tx) error {
		if err := tx.DeleteProject(project.ID); err != nil {
			return err
		}
		entry := access.Entry{
			Action: access.ProjectPurge,
			Object: project.ID,
			Team:   team,
			Detail: map[string]string{"name": project.Name},
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

// removeExports removes each export's file before its row, because a file without a row
// could not be found again.
func (s *Service) removeExports(ctx context.Context, team string, by time.Time, project string) error {
	for {
		var exports models.List[models.Export]
		err := s.step(ctx, team, by, func(tx *models.Tx) (err error) {
			exports, err = tx.ExportsOf(project, models.Page{Limit: models.MaxLimit})
			return err
		})
		if err != nil || len(exports.Items) == 0 {
			return err
		}
		for _, export := range exports.Items {
			if err := s.Files.Remove(export.ID); err != nil {
				return fmt.Errorf("remove the file of export %s: %w", export.ID, err)
			}
		}
		err = s.step(ctx, team, by, func(tx *models.Tx) error {
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
		return fmt.Errorf("%d projects were created meanwhile: %s", len(left), strings.Join(names(left), ", "))
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
func (s *Service) repeat(ctx context.Context, team string, by time.Time, some func(*models.Tx) (bool, error)) error {
	for more := true; more; {
		err := s.step(ctx, team, by, func(tx *models.Tx) (err error) {
			more, err = some(tx)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// step runs fn in a transaction that locks the workspace. The first step also condemns it,
// so that it cannot be claimed from then on.
func (s *Service) step(ctx context.Context, team string, by time.Time, fn func(*models.Tx) error) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		ours, err := tx.CondemnTeam(team, by)
		if err != nil {
			return err
		}
		if !ours {
			return errClaimed
		}
		return fn(tx)
	})
}
