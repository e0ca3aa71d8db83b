package usage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/models"
)

// Events emits webhook events. A nil one emits none.
type Events interface {
	Emit(ctx context.Context, tx *models.Tx, team, event string, data map[string]any) error
}

// The events about targets.
const (
	EventUnhealthy = "upstream.unhealthy"
	EventHealthy   = "upstream.healthy"
)

// quietFor is how long no gateway may report a target before it counts as healthy again, in addition to the time that
// active checks take to find a failure. A gateway that was restarted needs that time to know.
const quietFor = 30 * time.Second

// tellOfTargets tells webhooks what has changed.
func (r *Recorder) tellOfTargets(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, foldTimeout)
	defer cancel()
	now, err := r.db.Read(ctx).DatabaseTime()
	if err == nil {
		err = r.TellOfTargets(ctx, now)
	}
	if err != nil && !r.tellingFails && ctx.Err() == nil {
		r.log.Error("could not notify webhooks of target health; retrying", "error", err)
	}
	r.tellingFails = err != nil
}

// TellOfTargets tells webhooks of targets that became unhealthy or healthy until now, by the database's clock. A target
// is unhealthy as soon as a gateway reports it, and healthy once none has for a while, so that a target that comes and
// goes doesn't cause an event each time. Any number of replicas may do this at the same time: each event is in the
// transaction that changes the target's row, and only one of them changes it.
func (r *Recorder) TellOfTargets(ctx context.Context, now time.Time) error {
	tx := r.db.Read(ctx)
	reports, err := tx.TargetReports("")
	if err != nil {
		return fmt.Errorf("usage: read the health of targets: %w", err)
	}
	told, err := tx.UnhealthyTargets()
	if err != nil {
		return fmt.Errorf("usage: read the health of targets: %w", err)
	}
	known := make(map[targetOf]models.TargetHealth, len(told))
	for _, row := range told {
		known[targetOf{row.EnvironmentID, row.Target}] = row
	}
	reported := map[targetOf]bool{}
	for _, one := range reports {
		at := targetOf{one.EnvironmentID, one.Target}
		if reported[at] {
			continue // the first is the oldest
		}
		reported[at] = true
		row, was := known[at]
		switch {
		case !was:
			err = errors.Join(err, r.tellUnhealthy(ctx, one))
		case row.QuietSince != nil:
			err = errors.Join(err, r.db.Write(ctx, func(tx *models.Tx) error { return tx.SetTargetQuiet(row, nil) }))
		}
	}
	for at, row := range known {
		if !reported[at] {
			err = errors.Join(err, r.tellHealthy(ctx, row, now))
		}
	}
	return err
}

func (r *Recorder) tellUnhealthy(ctx context.Context, report models.TargetReport) error {
	row := models.TargetHealth{
		EnvironmentID: report.EnvironmentID, Target: report.Target, ProjectID: report.ProjectID, Since: report.Since,
	}
	return r.db.Write(ctx, func(tx *models.Tx) error {
		place, err := placeOfTarget(tx, row)
		if err != nil || !place.watched {
			return err // the gateway doesn't know the change of the settings yet
		}
		changed, err := tx.MarkTargetUnhealthy(row)
		if err != nil || !changed {
			return err
		}
		return r.emit(ctx, tx, EventUnhealthy, place, map[string]any{"reason": report.Reason})
	})
}

// tellHealthy notes that no gateway reports a target, and tells it once that has been so for a while.
func (r *Recorder) tellHealthy(ctx context.Context, row models.TargetHealth, now time.Time) error {
	return r.db.Write(ctx, func(tx *models.Tx) error {
		place, err := placeOfTarget(tx, row)
		switch {
		case err != nil:
			return err
		case !place.watched:
			return tx.DeleteTargetHealth(row)
		case row.QuietSince == nil:
			return tx.SetTargetQuiet(row, &now)
		case now.Sub(*row.QuietSince) < place.quietFor:
			return nil
		}
		changed, err := tx.MarkTargetHealthy(row)
		if err != nil || !changed {
			return err
		}
		return r.emit(ctx, tx, EventHealthy, place, nil)
	})
}

// placeOfATarget is where a target is.
type placeOfATarget struct {
	project              models.Project
	version, environment string // names
	target               string
	watched              bool // the target is still there, and its health is still checked
	quietFor             time.Duration
}

func placeOfTarget(tx *models.Tx, row models.TargetHealth) (out placeOfATarget, err error) {
	e, version, err := tx.EnvironmentByID(row.EnvironmentID)
	if errors.Is(err, models.ErrNotFound) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	project, err := tx.ProjectByID(version.ProjectID)
	if err != nil {
		return out, err
	}
	out = placeOfATarget{
		project: project, version: version.Name, environment: e.Name, target: row.Target, quietFor: quietFor,
	}
	checks := e.Upstream.Checks.Stated()
	if checks.Active() {
		out.quietFor += time.Duration(*checks.Unhealthy**checks.IntervalMS) * time.Millisecond
	}
	for _, one := range e.Upstream.TargetsOr(e.Target) {
		if hostOfTarget(one.URL) == row.Target {
			out.watched = project.DeletedAt == nil && e.Upstream.WatchesTargets()
		}
	}
	return out, nil
}

func (r *Recorder) emit(
	ctx context.Context, tx *models.Tx, event string, of placeOfATarget, data map[string]any,
) error {
	if r.Events == nil {
		return nil
	}
	all := map[string]any{
		"project":      of.project.ID,
		"project_name": of.project.Name,
		"version":      of.version,
		"environment":  of.environment,
		"target":       of.target,
	}
	for name, value := range data {
		all[name] = value
	}
	if err := r.Events.Emit(ctx, tx, of.project.TeamID, event, all); err != nil {
		return fmt.Errorf("usage: event %s: %w", event, err)
	}
	return nil
}
