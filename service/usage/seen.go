package usage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"postern/models"
	"postern/service/access"
)

// SeenFor is the period that Seen reads.
const SeenFor = 7 * 24 * time.Hour

// Seen returns the hour in which each end user last called one of the projects, with a
// token or with a key whose owner is their id. Users without a call within SeenFor are
// absent. projects are names or ids, users are ids.
func (s *Service) Seen(
	ctx context.Context, p access.Principal, projects, users []string,
) (map[string]time.Time, error) {
	tx := s.DB.Read(ctx)
	var ids []string
	for _, ref := range projects {
		row, err := access.Project(tx, p, ref, access.UsageRead)
		if err != nil {
			return nil, fmt.Errorf("usage: find the callers of %s: %w", ref, err)
		}
		ids = append(ids, row.ID)
	}
	if len(ids) == 0 || len(users) == 0 {
		return map[string]time.Time{}, nil
	}
	if err := s.Recorder.Flush(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	rows, err := tx.LastHours(ids, models.Now().Add(-SeenFor).Unix()/3600, users)
	if err != nil {
		return nil, fmt.Errorf("usage: find callers: %w", err)
	}
	seen := map[string]time.Time{}
	for _, row := range rows {
		user, _, _ := strings.Cut(row.Owner, " ") // the issuer of their token follows
		if at := time.Unix(row.Hour*3600, 0).UTC(); at.After(seen[user]) {
			seen[user] = at
		}
	}
	return seen, nil
}
