package projects

import (
	"context"
	"fmt"
	"strings"

	"postern/models"
	"postern/service/access"
)

// Match is a project or a tenant that a search found.
type Match struct{ ID, Name, DisplayName string }

// FindProjects finds at most limit projects of the principal's teams by ID, by a prefix of their name, or by a part of
// their display name.
func (s *Service) FindProjects(ctx context.Context, p access.Principal, text string, limit int) ([]Match, error) {
	rows, err := s.DB.Read(ctx).FindProjects(p.TeamsFor(access.ProjectRead), strings.ToLower(text), limit)
	if err != nil {
		return nil, fmt.Errorf("projects: find projects: %w", err)
	}
	return matches(rows, func(row models.Project) Match { return Match{row.ID, row.Name, row.DisplayName} }), nil
}

// FindTenants finds at most limit tenants as FindProjects does, without the default tenants
// of projects.
func (s *Service) FindTenants(ctx context.Context, p access.Principal, text string, limit int) ([]Match, error) {
	rows, err := s.DB.Read(ctx).FindTenants(p.TeamsFor(access.TenantRead), strings.ToLower(text), limit)
	if err != nil {
		return nil, fmt.Errorf("projects: find tenants: %w", err)
	}
	return matches(rows, func(row models.Tenant) Match { return Match{row.ID, row.Name, row.DisplayName} }), nil
}

func matches[T any](rows []T, match func(T) Match) []Match {
	out := make([]Match, 0, len(rows))
	for _, row := range rows {
		out = append(out, match(row))
	}
	return out
}
