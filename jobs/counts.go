package jobs

import (
	"context"
	"fmt"
)

// Counts counts the jobs by River's state of them. Those that are over stay for a
// day, until River clears them away.
func (q *Queue) Counts(ctx context.Context) (map[string]int64, error) {
	rows, err := q.db.SQL().QueryContext(ctx, "SELECT state, count(*) FROM river_job GROUP BY state")
	if err != nil {
		return nil, fmt.Errorf("jobs: count: %w", err)
	}
	defer func() { _ = rows.Close() }() // its error is that of Err
	counts := map[string]int64{}
	for rows.Next() {
		var state string
		var n int64
		if err := rows.Scan(&state, &n); err != nil {
			return nil, fmt.Errorf("jobs: count: %w", err)
		}
		counts[state] = n
	}
	return counts, rows.Err()
}
