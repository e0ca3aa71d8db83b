package keys

import (
	"context"
	"fmt"

	"postern/core/policy"
	"postern/models"
	"postern/service/access"
)

// Match is a key that a search found.
type Match struct {
	ID      string
	Project string // name
	Owner   string
	Display string // prefix, dots, last four characters
	State   string
}

// Find finds keys in the principal's teams: one by its ID or its whole plaintext, or at most limit keys by a prefix of
// their owner.
func (s *Service) Find(ctx context.Context, p access.Principal, text string, limit int) ([]Match, error) {
	tx, teams := s.DB.Read(ctx), p.TeamsFor(access.KeyRead)
	hash := policy.HashKey(text)
	one, err := tx.FindKey(teams, text, hash[:])
	if err != nil {
		return nil, fmt.Errorf("keys: find: %w", err)
	}
	var rows []models.APIKey
	if one != nil {
		rows = append(rows, *one)
	} else if rows, err = tx.FindKeysByOwner(teams, text, limit); err != nil {
		return nil, fmt.Errorf("keys: find: %w", err)
	}
	ids := make([]string, 0, len(rows))
	for _, row := range rows {
		ids = append(ids, row.ProjectID)
	}
	projects, err := tx.ProjectsByID(ids)
	if err != nil {
		return nil, fmt.Errorf("keys: find: %w", err)
	}
	names := map[string]string{}
	for _, project := range projects {
		names[project.ID] = project.Name
	}
	out := make([]Match, 0, len(rows))
	now := models.Now()
	for _, row := range rows {
		out = append(out, Match{
			ID:      row.ID,
			Project: names[row.ProjectID],
			Owner:   row.Owner,
			Display: row.Prefix + "…" + row.Last4,
			State:   stateOf(&row, now),
		})
	}
	return out, nil
}
