package usage

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
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

// ShadowRefusals lists the calls of the last models.DaysCounted days that rules of a version in shadow would
// have refused, by rule and code.
func (s *Service) ShadowRefusals(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.List[contract.ShadowRefusal], error) {
	out, err := dailyOf(ctx, s, p, in.Project, in.Version, (*models.Tx).ShadowRefusalsOf,
		func(one models.ShadowRefusal) contract.ShadowRefusal {
			return contract.ShadowRefusal{Rule: one.Rule, Code: one.Code, Calls: one.Calls, LastAt: one.LastAt.UTC()}
		})
	if err != nil {
		err = fmt.Errorf("usage: refusals in shadow of %s: %w", in.Project, err)
	}
	return contract.List[contract.ShadowRefusal]{Items: out}, err
}
