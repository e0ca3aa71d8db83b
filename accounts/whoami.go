package accounts

import (
	"context"
	"fmt"
	"slices"

	"postern/access"
	"postern/models"
)

// Seat is a team and what somebody is in it.
type Seat struct {
	Team
	Role access.Role
}

// Seats lists the teams that the caller's own credential acts in, the home team
// first. Every credential may ask this of itself.
func (s *Service) Seats(ctx context.Context, p access.Principal) ([]Seat, error) {
	if p.Anonymous() {
		return nil, access.CheckSelf(p, access.TokenRead)
	}
	tx := s.DB.Read(ctx)
	var out []Seat
	for _, id := range p.Teams() {
		team, err := tx.TeamByID(id)
		if err != nil {
			return nil, fmt.Errorf("accounts: find the team %s: %w", id, err)
		}
		out = append(out, seat(team, p))
	}
	slices.SortFunc(out, func(a, b Seat) int { return compareTeams(a.Team, b.Team, p.HomeTeam) })
	return out, nil
}

func seat(team models.Team, p access.Principal) Seat {
	return Seat{Team: Team{ID: team.ID, Name: team.Name}, Role: p.Roles[team.ID]}
}
