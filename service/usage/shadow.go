package usage

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// shadowCounter identifies calls that a rule in shadow would have refused.
type shadowCounter struct {
	project, version, rule, code string
	day                          int64
}

func (r *Recorder) countShadow(c *Call) {
	began := c.Start.UTC()
	at := shadowCounter{c.ProjectID, c.VersionID, c.ShadowRule, c.ShadowCode, dayOf(began)}
	r.shadow.add(at, dailySum{calls: 1, last: began})
}

func (r *Recorder) flushShadows(ctx context.Context) error {
	return flushDaily(ctx, r.db, &r.shadow, dailyTable[shadowCounter, models.ShadowRefusal]{
		row: func(at shadowCounter, sum dailySum) models.ShadowRefusal {
			return models.ShadowRefusal{
				ProjectID: at.project,
				VersionID: at.version,
				Rule:      at.rule,
				Code:      at.code,
				Day:       at.day,
				Calls:     sum.calls,
				LastAt:    sum.last,
			}
		},
		order: func(a, b models.ShadowRefusal) int {
			return cmp.Or(cmp.Compare(a.VersionID, b.VersionID), cmp.Compare(a.Rule, b.Rule),
				cmp.Compare(a.Code, b.Code), cmp.Compare(a.Day, b.Day))
		},
		add: (*models.Tx).AddShadowRefusals,
	})
}

// ShadowRefusal is how often a rule in shadow would have refused a call with a code.
type ShadowRefusal struct {
	Rule   string // id, default or read_write_scopes
	Code   string
	Calls  int64
	LastAt time.Time
}

// ShadowRefusals lists the calls of the last models.DaysCounted days that rules of a version in shadow would
// have refused, by rule and code. The version is named by id or name.
func (s *Service) ShadowRefusals(
	ctx context.Context, p access.Principal, project, version string,
) ([]ShadowRefusal, error) {
	out, err := dailyOf(ctx, s, p, project, version, (*models.Tx).ShadowRefusalsOf,
		func(one models.ShadowRefusal) ShadowRefusal {
			return ShadowRefusal{one.Rule, one.Code, one.Calls, one.LastAt.UTC()}
		})
	if err != nil {
		return nil, fmt.Errorf("usage: refusals in shadow of %s: %w", project, err)
	}
	return out, nil
}
