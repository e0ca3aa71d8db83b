package usage

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// invalidCounter identifies calls that did not match the OpenAPI document of their version and were forwarded.
type invalidCounter struct {
	project, version, operation string
	day                         int64
}

func (r *Recorder) countInvalid(c *Call) {
	began := c.Start.UTC()
	at := invalidCounter{c.ProjectID, c.VersionID, c.InvalidAt, dayOf(began)}
	r.invalid.add(at, dailySum{1, began, c.InvalidWhy})
}

func (r *Recorder) flushInvalid(ctx context.Context) error {
	return flushDaily(ctx, r.db, &r.invalid, dailyTable[invalidCounter, models.InvalidRequest]{
		row: func(at invalidCounter, sum dailySum) models.InvalidRequest {
			return models.InvalidRequest{
				ProjectID: at.project,
				VersionID: at.version,
				Operation: at.operation,
				Day:       at.day,
				Calls:     sum.calls,
				Problem:   sum.problem,
				LastAt:    sum.last,
			}
		},
		order: func(a, b models.InvalidRequest) int {
			return cmp.Or(cmp.Compare(a.VersionID, b.VersionID), cmp.Compare(a.Operation, b.Operation),
				cmp.Compare(a.Day, b.Day))
		},
		add: (*models.Tx).AddInvalidRequests,
	})
}

// InvalidRequests lists the calls of the last models.DaysCounted days that the validation of a version would
// have refused, by operation. The version is named by id or name.
func (s *Service) InvalidRequests(
	ctx context.Context, p access.Principal, in contract.VersionPath,
) (contract.List[contract.InvalidRequest], error) {
	out, err := dailyOf(ctx, s, p, in.Project, in.Version, (*models.Tx).InvalidRequestsOf,
		func(one models.InvalidRequest) contract.InvalidRequest {
			return contract.InvalidRequest{
				Operation: one.Operation, Calls: one.Calls, Problem: one.Problem, LastAt: one.LastAt.UTC(),
			}
		})
	if err != nil {
		err = fmt.Errorf("usage: invalid requests of %s: %w", in.Project, err)
	}
	return contract.List[contract.InvalidRequest]{Items: out}, err
}
