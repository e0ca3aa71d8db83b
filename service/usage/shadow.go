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

// ShadowDays is for how many days calls that rules in shadow would have refused are kept.
const ShadowDays = 30

// shadowCounts counts calls that rules in shadow would have refused, since they were last written.
type shadowCounts struct {
	mu    sync.Mutex
	calls map[shadowCounter]shadowSum
}

type shadowCounter struct {
	project, version, rule, code string
	day                          int64
}

type shadowSum struct {
	calls int64
	last  time.Time
}

func (s *shadowCounts) count(c *Call) {
	began := c.Start.UTC()
	at := shadowCounter{c.ProjectID, c.VersionID, c.ShadowRule, c.ShadowCode, dayOf(began)}
	s.add(at, shadowSum{1, began})
}

func dayOf(t time.Time) int64 { return t.Unix() / (24 * 3600) }

func (s *shadowCounts) add(at shadowCounter, sum shadowSum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[shadowCounter]shadowSum{}
	}
	have := s.calls[at]
	have.calls += sum.calls
	if sum.last.After(have.last) {
		have.last = sum.last
	}
	s.calls[at] = have
}

func (s *shadowCounts) take() map[shadowCounter]shadowSum {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.calls
	s.calls = nil
	return taken
}

// flushShadows writes the counts. After an error they are still in memory.
func (r *Recorder) flushShadows(ctx context.Context) error {
	taken := r.shadow.take()
	if len(taken) == 0 {
		return nil
	}
	rows := make([]models.ShadowRefusal, 0, len(taken))
	for at, sum := range taken {
		rows = append(rows, models.ShadowRefusal{
			ProjectID: at.project,
			VersionID: at.version,
			Rule:      at.rule,
			Code:      at.code,
			Day:       at.day,
			Calls:     sum.calls,
			LastAt:    sum.last.Truncate(time.Microsecond),
		})
	}
	slices.SortFunc(rows, func(a, b models.ShadowRefusal) int {
		return cmp.Or(cmp.Compare(a.VersionID, b.VersionID), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Day, b.Day))
	})
	err := r.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.AddShadowRefusals(rows); err != nil {
			return err
		}
		return tx.DeleteShadowRefusals(dayOf(time.Now()) - ShadowDays)
	})
	if err != nil {
		for at, sum := range taken {
			r.shadow.add(at, sum)
		}
		return fmt.Errorf("usage: write %d refusals in shadow: %w", len(rows), err)
	}
	return nil
}

// ShadowRefusal is how often a rule in shadow would have refused a call with a code.
type ShadowRefusal struct {
	Rule   string // id, default or read_write_scopes
	Code   string
	Calls  int64
	LastAt time.Time
}

// ShadowRefusals lists the calls of the last ShadowDays days that rules of a version in shadow would
// have refused, by rule and code. The version is named by id or name.
func (s *Service) ShadowRefusals(
	ctx context.Context, p access.Principal, project, version string,
) ([]ShadowRefusal, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.UsageRead)
	if err != nil {
		return nil, fmt.Errorf("usage: refusals in shadow of %s: %w", project, err)
	}
	id, err := versionID(tx, row.ID, version)
	if err != nil {
		return nil, fmt.Errorf("usage: refusals in shadow of %s: %w", project, err)
	}
	rows, err := tx.ShadowRefusalsOf(row.ID, id, dayOf(time.Now())-ShadowDays)
	if err != nil {
		return nil, fmt.Errorf("usage: refusals in shadow of %s: %w", project, err)
	}
	out := make([]ShadowRefusal, 0, len(rows))
	for _, one := range rows {
		out = append(out, ShadowRefusal{one.Rule, one.Code, one.Calls, one.LastAt.UTC()})
	}
	return out, nil
}
