package usage

import (
	"cmp"
	"context"
	"fmt"
	"time"

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

// InvalidRequest is how often calls to an operation did not match the OpenAPI document, and were
// forwarded because that is only reported.
type InvalidRequest struct {
	Operation string // such as GET /orders/{id}
	Calls     int64
	Problem   string // of the last one; it has no value of the request
	LastAt    time.Time
}

// InvalidRequests lists the calls of the last models.DaysCounted days that the validation of a version would
// have refused, by operation. The version is named by id or name.
func (s *Service) InvalidRequests(
	ctx context.Context, p access.Principal, project, version string,
) ([]InvalidRequest, error) {
	out, err := dailyOf(ctx, s, p, project, version, (*models.Tx).InvalidRequestsOf,
		func(one models.InvalidRequest) InvalidRequest {
			return InvalidRequest{one.Operation, one.Calls, one.Problem, one.LastAt.UTC()}
		})
	if err != nil {
		return nil, fmt.Errorf("usage: invalid requests of %s: %w", project, err)
	}
	return out, nil
}
