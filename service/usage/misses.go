package usage

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
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

// RelationMisses lists the answers of the last models.DaysCounted days of which rules of a version could not
// remember or forget an object, by rule and reason.
func (s *Service) RelationMisses(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.List[contract.RelationMiss], error) {
	out, err := dailyOf(ctx, s, p, in.Project, in.Version, (*models.Tx).RelationMissesOf,
		func(one models.RelationMiss) contract.RelationMiss {
			return contract.RelationMiss{Rule: one.Rule, Reason: one.Reason, Calls: one.Calls, LastAt: one.LastAt.UTC()}
		})
	if err != nil {
		err = fmt.Errorf("usage: missed objects of %s: %w", in.Project, err)
	}
	return contract.List[contract.RelationMiss]{Items: out}, err
}
