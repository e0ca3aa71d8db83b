package accounts

import (
	"context"
	"fmt"
	"slices"

	"postern/core/contract"
	"postern/service/access"
)

// CallerTeams returns the teams of the caller's credential, the home team first. It needs
// no other permission than being authenticated.
func (s *Service) CallerTeams(ctx context.Context, p access.Principal) ([]contract.Membership, error) {
	if p.Anonymous() {
		return nil, access.CheckSelf(p, access.TokenRead)
	}
	tx := s.DB.Read(ctx)
	var out []contract.Membership
	for _, id := range p.Teams() {
		team, err := tx.TeamByID(id)
		if err != nil {
			return nil, fmt.Errorf("accounts: find the team %s: %w", id, err)
		}
		out = append(out, contract.Membership{ID: id, Name: team.Name, Role: string(p.Roles[id])})
	}
	slices.SortFunc(out, func(a, b contract.Membership) int { return compareTeams(a, b, p.HomeTeam) })
	return out, nil
}
