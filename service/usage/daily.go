package usage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"postern/models"
	"postern/service/access"
)

// dailyCounts counts calls by K, which has their day, since they were last written.
type dailyCounts[K comparable] struct {
	mu    sync.Mutex
	calls map[K]dailySum
}

type dailySum struct {
	calls   int64
	last    time.Time
	problem string // of the last call; "" where none is counted
}

func dayOf(t time.Time) int64 { return t.Unix() / (24 * 3600) }

func (d *dailyCounts[K]) add(at K, sum dailySum) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls == nil {
		d.calls = map[K]dailySum{}
	}
	have := d.calls[at]
	have.calls += sum.calls
	if !sum.last.Before(have.last) {
		have.last, have.problem = sum.last, sum.problem
	}
	d.calls[at] = have
}

func (d *dailyCounts[K]) take() map[K]dailySum {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.calls
	d.calls = nil
	return taken
}

// dailyTable is the table of rows R of counts.
type dailyTable[K comparable, R any] struct {
	row   func(K, dailySum) R
	order func(a, b R) int // in one order, so that transactions of replicas do not wait for each other in a circle
	add   func(*models.Tx, []R) error
}

// flushDaily writes the counts. After an error they are still in memory. Package retention deletes the rows.
func flushDaily[K comparable, R any](
	ctx context.Context, db *models.DB, counts *dailyCounts[K], table dailyTable[K, R],
) error {
	taken := counts.take()
	if len(taken) == 0 {
		return nil
	}
	rows := make([]R, 0, len(taken))
	for at, sum := range taken {
		sum.last = sum.last.Truncate(time.Microsecond)
		rows = append(rows, table.row(at, sum))
	}
	slices.SortFunc(rows, table.order)
	err := db.Write(ctx, func(tx *models.Tx) error { return table.add(tx, rows) })
	if err != nil {
		for at, sum := range taken {
			counts.add(at, sum)
		}
		return fmt.Errorf("usage: write %d rows: %w", len(rows), err)
	}
	return nil
}

// dailyOf returns what read returns of the rows of a version since models.DaysCounted days ago. The version is named by
// id or name.
func dailyOf[R, T any](
	ctx context.Context, s *Service, p access.Principal, project, version string,
	read func(tx *models.Tx, project, version string, since int64) ([]R, error), convert func(R) T,
) ([]T, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.UsageRead)
	if err != nil {
		return nil, err
	}
	id, err := versionID(tx, row.ID, version)
	if err != nil {
		return nil, err
	}
	rows, err := read(tx, row.ID, id, dayOf(time.Now())-models.DaysCounted)
	if err != nil {
		return nil, err
	}
	out := make([]T, 0, len(rows))
	for _, one := range rows {
		out = append(out, convert(one))
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
