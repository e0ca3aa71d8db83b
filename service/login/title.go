package login

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/service/appclients"
)

// brandingOf returns an app client's branding, with defaultTitle if it has no title.
func brandingOf(tx *models.Tx, row models.AppClient) (contract.Branding, error) {
	b := appclients.BrandingOf(row)
	if b.Title != "" {
		return b, nil
	}
	var err error
	b.Title, err = defaultTitle(tx, row)
	return b, err
}

// defaultTitle returns the display name of the project that serves the client's tenant, and
// the client's name where there is none or several: users know what they sign in to, and not
// what the team calls its clients.
func defaultTitle(tx *models.Tx, row models.AppClient) (string, error) {
	tenant, err := tx.TenantByID(row.TenantID)
	if err != nil {
		return "", fmt.Errorf("login: the tenant of the app client %s: %w", row.ID, err)
	}
	served, err := tx.ProjectsOfTenant(tenant)
	if err != nil {
		return "", fmt.Errorf("login: the projects of the app client %s: %w", row.ID, err)
	}
	if len(served) != 1 {
		return row.Name, nil
	}
	project, err := tx.ProjectByID(served[0])
	if err != nil {
		return "", fmt.Errorf("login: the project of the app client %s: %w", row.ID, err)
	}
	return cmp.Or(project.DisplayName, project.Name), nil
}

// DefaultTitle returns the title of an app client's pages while its branding doesn't set one. It
// needs no permission: the pages are public.
func (s *Service) DefaultTitle(ctx context.Context, id string) (string, error) {
	row, err := s.client(ctx, id)
	if err != nil {
		return "", err
	}
	return defaultTitle(s.DB.Read(ctx), row)
}
