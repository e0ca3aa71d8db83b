package directory

import (
	"context"
	"fmt"
	"strings"

	"postern/service/access"
)

// FindUsers finds an end user in the principal's teams by id, or at most limit by the
// beginning of their address.
func (s *Service) FindUsers(ctx context.Context, p access.Principal, text string, limit int) ([]User, error) {
	rows, err := s.DB.Read(ctx).FindUsers(p.TeamsFor(access.UserRead), strings.ToLower(text), limit)
	if err != nil {
		return nil, fmt.Errorf("directory: find users: %w", err)
	}
	out := make([]User, 0, len(rows))
	for _, row := range rows {
		out = append(out, viewUser(row))
	}
	return out, nil
}
