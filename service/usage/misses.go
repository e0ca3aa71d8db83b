package usage

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// missCounter identifies answers of which a rule could not remember or forget an object.
type missCounter struct {
	project, version, rule, reason string
	day                            int64
}

func (r *Recorder) countMiss(c *Call) {
	began := c.Start.UTC()
	at := missCounter{c.ProjectID, c.VersionID, c.TrackedRule, c.MissReason, dayOf(began)}
	r.misses.add(at, dailySum{calls: 1, last: began})
}

func (r *Recorder) flushMisses(ctx context.Context) error {
	return flushDaily(ctx, r.db, &r.misses, dailyTable[missCounter, models.RelationMiss]{
		row: func(at missCounter, sum dailySum) models.RelationMiss {
			r.log.Warn("no object was remembered or forgotten", "project", at.project, "rule", at.rule,
				"reason", at.reason, "calls", sum.calls)
			return models.RelationMiss{
				ProjectID: at.project,
				VersionID: at.version,
				Rule:      at.rule,
				Reason:    at.reason,
				Day:       at.day,
				Calls:     sum.calls,
				LastAt:    sum.last,
			}
		},
		order: func(a, b models.RelationMiss) int {
			return cmp.Or(cmp.Compare(a.VersionID, b.VersionID), cmp.Compare(a.Rule, b.Rule),
				cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Day, b.Day))
		},
		add: (*models.Tx).AddRelationMisses,
	})
}

// Ownership returns what a rule remembered or forgot of the answer, or why it could not; "" for nothing.
func (c *Call) Ownership() string {
	if c.Tracked == "" {
		return ""
	}
	return c.Tracked + " " + c.TrackedThing + c.MissReason
}

// RelationMiss is how often a rule could not remember or forget an object, for a reason.
type RelationMiss struct {
	Rule   string // id
	Reason string // see policy.MissReason
	Calls  int64
	LastAt time.Time
}

// RelationMisses lists the answers of the last models.DaysCounted days of which rules of a version could not
// remember or forget an object, by rule and reason. The version is named by id or name.
func (s *Service) RelationMisses(
	ctx context.Context, p access.Principal, project, version string,
) ([]RelationMiss, error) {
	out, err := dailyOf(ctx, s, p, project, version, (*models.Tx).RelationMissesOf,
		func(one models.RelationMiss) RelationMiss {
			return RelationMiss{one.Rule, one.Reason, one.Calls, one.LastAt.UTC()}
		})
	if err != nil {
		return nil, fmt.Errorf("usage: missed objects of %s: %w", project, err)
	}
	return out, nil
}
