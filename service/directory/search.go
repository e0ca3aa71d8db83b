package directory

import (
	"context"
	"fmt"
	"strings"

	"postern/core/contract"
	"postern/service/access"
)

// FindUsers finds an end user in the principal's teams by id, or at most limit by the
// beginning of their address.
func (s *Service) FindUsers(ctx context.Context, p access.Principal, text string, limit int) ([]contract.User, error) {
	rows, err := s.DB.Read(ctx).FindUsers(p.TeamsFor(access.UserRead), strings.ToLower(text), limit)
	if err != nil {
		return nil, fmt.Errorf("directory: find users: %w", err)
	}
	return viewUsers(rows), nil
}
