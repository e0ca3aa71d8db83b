// Package retention ends what nobody has claimed: some time after an unclaimed
// workspace has ended, everything that was in it is deleted and the names of its
// projects are free again.
//
// It owns when that happens and in which order; it does not own when a workspace
// ends (accounts), what its proxies answer until then (gateway, 410), nor which
// tables have rows of it (models). Audit entries stay, with one more that says
// what was deleted.
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

// Bounds on one transaction and one round. SQLite has one writer: nobody may
// wait long for it because a workspace with a million keys goes.
const (
	rowsAtOnce  = 500
	teamsAtOnce = 100
)

// Files is where exports are kept. One that is not there is not an error.
type Files interface {
	Remove(exportID string) error
}

// Service is the room's door. Changed is called when projects are gone, and
// returns when this process does not serve them any more.
type Service struct {
	DB      *models.DB
	Files   Files
	Grace   time.Duration // how long a workspace is kept after its end
	Changed func(context.Context)
	Log     *slog.Logger
}

// errClaimed says that a workspace is somebody's by now, or gone already.
var errClaimed = errors.New("retention: the workspace is not ours to delete")

// Purge deletes the workspaces whose grace is over. It can be stopped at any
// point and called again, also by two at a time: each step is a transaction of
// its own that first makes sure that nobody has claimed the workspace. One that
// cannot be deleted does not keep the others.
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
	if err := s.drain(ctx, team, by, func(tx *models.Tx) (bool, error) { return tx.DeleteSomeOfTeam(team, rowsAtOnce) }); err != nil {
		return err
	}
	if err := s.step(ctx, team, by, func(tx *models.Tx) error { return s.removeTeam(tx, team) }); err != nil {
		return err
	}
	s.Log.Info("an unclaimed workspace was deleted", "workspace", team, "projects", len(projects))
	return nil
}

// purgeProject deletes a project. Its row goes last: until then, whoever starts
// again finds what is left by it.
func (s *Service) purgeProject(ctx context.Context, team string, by time.Time, project models.Project) error {
	if err := s.removeExports(ctx, team, by, project.ID); err != nil {
		return err
	}
	more := func(tx *models.Tx) (bool, error) { return tx.DeleteSomeOfProject(project.ID, rowsAtOnce) }
	if err := s.drain(ctx, team, by, more); err != nil {
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

// removeExports removes each file before its row: a file without a row would
// never be found again.
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
		return fmt.Errorf("%d projects were made meanwhile: %s", len(left), strings.Join(names(left), ", "))
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

// drain repeats a step until it has nothing more to do.
func (s *Service) drain(ctx context.Context, team string, by time.Time, some func(*models.Tx) (bool, error)) error {
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

// step runs fn in one transaction that holds the workspace, which nobody can
// claim from the first step on.
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
