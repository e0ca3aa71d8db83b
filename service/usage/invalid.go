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

// invalidCounts counts calls that did not match the OpenAPI document of their version and were forwarded
// all the same, since they were last written.
type invalidCounts struct {
	mu    sync.Mutex
	calls map[invalidCounter]invalidSum
}

type invalidCounter struct {
	project, version, operation string
	day                         int64
}

type invalidSum struct {
	calls   int64
	problem string // of the last one
	last    time.Time
}

func (s *invalidCounts) count(c *Call) {
	began := c.Start.UTC()
	at := invalidCounter{c.ProjectID, c.VersionID, c.InvalidAt, dayOf(began)}
	s.add(at, invalidSum{1, c.InvalidWhy, began})
}

func (s *invalidCounts) add(at invalidCounter, sum invalidSum) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls == nil {
		s.calls = map[invalidCounter]invalidSum{}
	}
	have := s.calls[at]
	have.calls += sum.calls
	if !sum.last.Before(have.last) {
		have.problem, have.last = sum.problem, sum.last
	}
	s.calls[at] = have
}

func (s *invalidCounts) take() map[invalidCounter]invalidSum {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.calls
	s.calls = nil
	return taken
}

// flushInvalid writes the counts. After an error they are still in memory.
func (r *Recorder) flushInvalid(ctx context.Context) error {
	taken := r.invalid.take()
	if len(taken) == 0 {
		return nil
	}
	rows := make([]models.InvalidRequest, 0, len(taken))
	for at, sum := range taken {
		rows = append(rows, models.InvalidRequest{
			ProjectID: at.project,
			VersionID: at.version,
			Operation: at.operation,
			Day:       at.day,
			Calls:     sum.calls,
			Problem:   sum.problem,
			LastAt:    sum.last.Truncate(time.Microsecond),
		})
	}
	slices.SortFunc(rows, func(a, b models.InvalidRequest) int {
		return cmp.Or(cmp.Compare(a.VersionID, b.VersionID), cmp.Compare(a.Operation, b.Operation),
			cmp.Compare(a.Day, b.Day))
	})
	err := r.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.AddInvalidRequests(rows); err != nil {
			return err
		}
		return tx.DeleteInvalidRequests(dayOf(time.Now()) - ShadowDays)
	})
	if err != nil {
		for at, sum := range taken {
			r.invalid.add(at, sum)
		}
		return fmt.Errorf("usage: write %d counts of invalid requests: %w", len(rows), err)
	}
	return nil
}

// InvalidRequest is how often calls to an operation did not match the OpenAPI document, and were
// forwarded because that is only reported.
type InvalidRequest struct {
	Operation string // such as GET /orders/{id}
	Calls     int64
	Problem   string // of the last one; it has no value of the request
	LastAt    time.Time
}

// InvalidRequests lists the calls of the last ShadowDays days that the validation of a version would
// have refused, by operation. The version is named by id or name.
func (s *Service) InvalidRequests(
	ctx context.Context, p access.Principal, project, version string,
) ([]InvalidRequest, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.UsageRead)
	if err != nil {
		return nil, fmt.Errorf("usage: invalid requests of %s: %w", project, err)
	}
	id, err := versionID(tx, row.ID, version)
	if err != nil {
		return nil, fmt.Errorf("usage: invalid requests of %s: %w", project, err)
	}
	rows, err := tx.InvalidRequestsOf(row.ID, id, dayOf(time.Now())-ShadowDays)
	if err != nil {
		return nil, fmt.Errorf("usage: invalid requests of %s: %w", project, err)
	}
	out := make([]InvalidRequest, 0, len(rows))
	for _, one := range rows {
		out = append(out, InvalidRequest{one.Operation, one.Calls, one.Problem, one.LastAt.UTC()})
	}
	return out, nil
}

// versionID returns the id of a version that is named by id or name. It is NotFound without one.
func versionID(tx *models.Tx, project, ref string) (string, error) {
	versions, err := tx.VersionsOf(project)
	if err != nil {
		return "", err
	}
	for _, v := range versions {
		if v.ID == ref || v.Name == ref {
			return v.ID, nil
		}
	}
	return "", access.NotFound()
}
