package accounts

import (
	"context"
	"fmt"
	"slices"

	"postern/service/access"
)

// CallerTeams returns the teams of the caller's credential, the home team first. It needs
// no other permission than being authenticated.
func (s *Service) CallerTeams(ctx context.Context, p access.Principal) ([]Team, error) {
	if p.Anonymous() {
		return nil, access.CheckSelf(p, access.TokenRead)
	}
	tx := s.DB.Read(ctx)
	var out []Team
	for _, id := range p.Teams() {
		team, err := tx.TeamByID(id)
		if err != nil {
			return nil, fmt.Errorf("accounts: find the team %s: %w", id, err)
		}
		out = append(out, viewTeam(team, p))
	}
	slices.SortFunc(out, func(a, b Team) int { return compareTeams(a, b, p.HomeTeam) })
	return out, nil
}
