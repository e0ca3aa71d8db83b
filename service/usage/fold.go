package usage

import (
	"context"
	"time"

	"postern/models"
)

// foldAfter is how long after its end a day is folded: counts of all replicas are written by then. Calls that began in
// a folded day and end later are added to its row.
const foldAfter = 2 * time.Hour

// Bounds on folding, so that it holds up no other write for long.
const (
	foldDays    = 7 // of a project in one transaction
	foldAtOnce  = 20
	lookForDays = time.Minute
)

// folder sums up the hours of days that have ended, and these days.
type folder struct {
	next    time.Time // when to look for days to fold
	failing bool
}

// foldSome folds days of some projects, and keeps what has to be deleted short.
func (r *Recorder) foldSome(ctx context.Context) {
	now := models.Now()
	if now.Before(r.folder.next) {
		return
	}
	n, err := r.Fold(ctx, now, foldAtOnce)
	if n < foldAtOnce {
		r.folder.next = now.Add(lookForDays)
	}
	if ctx.Err() != nil {
		return // the process stops
	}
	if err != nil && !r.folder.failing {
		r.log.Error("could not sum up hours of usage; pages that show many days are slower", "error", err)
	}
	r.folder.failing = err != nil
}

// Fold sums up hours of days that ended long enough before now, and days to spans of several days, in at most limit
// transactions, and returns in how many.
func (r *Recorder) Fold(ctx context.Context, now time.Time, limit int) (n int, err error) {
	ended := now.Add(-foldAfter).Unix()/models.TrafficDay - 1
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	projects, err := r.db.Read(ctx).UnfoldedProjects(ended, limit)
	if err != nil {
		return 0, err
	}
	for _, id := range projects {
		err := r.db.Write(ctx, func(tx *models.Tx) error {
			if err := tx.FoldUsage(id, ended, foldDays); err != nil {
				return err
			}
			old := now.Add(-keepRoutes).Unix() / models.TrafficHour
			return tx.DeleteTraffic(id, models.TrafficOfRoute, models.TrafficHour, old)
		})
		if err != nil {
			return n, err
		}
		n++
	}
	if n < limit {
		return n, r.db.Write(ctx, func(tx *models.Tx) error {
			return tx.DeleteMinutes(now.Add(-keepMinutes).Unix() / models.TrafficMinute)
		})
	}
	return n, nil
}
