package usage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"postern/models"
	"postern/service/access"
)

// missCounts counts answers of which a rule could not remember or forget an object, since they were
// last written.
type missCounts struct {
	mu    sync.Mutex
	calls map[missCounter]shadowSum
}

type missCounter struct {
	project, version, rule, reason string
	day                            int64
}

func (m *missCounts) count(c *Call) {
	began := c.Start.UTC()
	m.add(missCounter{c.ProjectID, c.VersionID, c.TrackedRule, c.MissReason, dayOf(began)}, shadowSum{1, began})
}

func (m *missCounts) add(at missCounter, sum shadowSum) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.calls == nil {
		m.calls = map[missCounter]shadowSum{}
	}
	have := m.calls[at]
	have.calls += sum.calls
	if sum.last.After(have.last) {
		have.last = sum.last
	}
	m.calls[at] = have
}

func (m *missCounts) take() map[missCounter]shadowSum {
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.calls
	m.calls = nil
	return taken
}

// flushMisses writes the counts. After an error they are still in memory.
func (r *Recorder) flushMisses(ctx context.Context) error {
	taken := r.misses.take()
	if len(taken) == 0 {
		return nil
	}
	rows := make([]models.RelationMiss, 0, len(taken))
	for at, sum := range taken {
		r.log.Warn("no object was remembered or forgotten", "project", at.project, "rule", at.rule, "reason", at.reason,
			"calls", sum.calls)
		rows = append(rows, models.RelationMiss{
			ProjectID: at.project,
			VersionID: at.version,
			Rule:      at.rule,
			Reason:    at.reason,
			Day:       at.day,
			Calls:     sum.calls,
			LastAt:    sum.last.Truncate(time.Microsecond),
		})
	}
	slices.SortFunc(rows, func(a, b models.RelationMiss) int {
		return cmp.Or(cmp.Compare(a.VersionID, b.VersionID), cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Day, b.Day))
	})
	err := r.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.AddRelationMisses(rows); err != nil {
			return err
		}
		return tx.DeleteRelationMisses(dayOf(time.Now()) - ShadowDays)
	})
	if err != nil {
		for at, sum := range taken {
			r.misses.add(at, sum)
		}
		return fmt.Errorf("usage: write %d missed objects: %w", len(rows), err)
	}
	return nil
}

// Ownership says what a rule remembered or forgot of the answer, or why it could not; "" for nothing.
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

// RelationMisses lists the answers of the last ShadowDays days of which rules of a version could not
// remember or forget an object, by rule and reason. The version is named by id or name.
func (s *Service) RelationMisses(
	ctx context.Context, p access.Principal, project, version string,
) ([]RelationMiss, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.UsageRead)
	if err != nil {
		return nil, fmt.Errorf("usage: missed objects of %s: %w", project, err)
	}
	versions, err := tx.VersionsOf(row.ID)
	if err != nil {
		return nil, fmt.Errorf("usage: missed objects of %s: %w", project, err)
	}
	for _, v := range versions {
		if v.ID != version && v.Name != version {
			continue
		}
		rows, err := tx.RelationMissesOf(row.ID, v.ID, dayOf(time.Now())-ShadowDays)
		if err != nil {
			return nil, fmt.Errorf("usage: missed objects of %s: %w", project, err)
		}
		out := make([]RelationMiss, 0, len(rows))
		for _, one := range rows {
			out = append(out, RelationMiss{one.Rule, one.Reason, one.Calls, one.LastAt.UTC()})
		}
		return out, nil
	}
	return nil, fmt.Errorf("usage: missed objects of %s: %w", project, access.NotFound())
}
