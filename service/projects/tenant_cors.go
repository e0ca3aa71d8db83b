package projects

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// viewTenantCORS returns a tenant's CORS; its AppOrigins are about the tenant's own app clients.
func viewTenantCORS(tx *models.Tx, row models.Tenant) (contract.SavedCORS, error) {
	return savedCORS(row.CORS, func() ([]models.AppClient, error) { return tx.AppClientsOf(row.ID) })
}

// TenantCORS returns the CORS of a tenant.
func (s *Service) TenantCORS(
	ctx context.Context, p access.Principal, in contract.TenantPath,
) (contract.SavedCORS, error) {
	tx := s.DB.Read(ctx)
	row, _, err := access.Tenant(tx, p, in.Tenant, access.TenantRead)
	if err != nil {
		return contract.SavedCORS{}, fmt.Errorf("projects: CORS of tenant %s: %w", in.Tenant, err)
	}
	return viewTenantCORS(tx, row)
}

// TenantName is a tenant in a list of names.
type TenantName struct{ ID, DisplayName string }

// CORSOverrides lists by name the tenants of a project that have their own CORS.
func (s *Service) CORSOverrides(ctx context.Context, p access.Principal, ref string) (list []TenantName, err error) {
	tx := s.DB.Read(ctx)
	project, err := access.Project(tx, p, ref, access.TenantRead)
	if err != nil {
		return nil, fmt.Errorf("projects: CORS of the tenants of %s: %w", ref, err)
	}
	rows, err := tx.TenantsOf(project.ID)
	if err != nil {
		return nil, fmt.Errorf("projects: CORS of the tenants of %s: %w", ref, err)
	}
	for _, row := range rows {
		if row.CORS.IsSet() {
			list = append(list, TenantName{row.ID, cmp.Or(row.DisplayName, row.Name)})
		}
	}
	return list, nil
}

// SetTenantCORS replaces the CORS of a tenant in all projects that serve it, from the next call on. An empty list of
// methods means all of CORSMethods.
func (s *Service) SetTenantCORS(
	ctx context.Context, p access.Principal, in contract.TenantCORSUpdate,
) (out contract.SavedCORS, err error) {
	err = s.changeTenant(ctx, p, in.Tenant, map[string]string{"change": "CORS"},
		func(tx *models.Tx, row *models.Tenant) error {
			have, err := viewTenantCORS(tx, *row)
			if err != nil {
				return err
			}
			if err := access.Unchanged(in.IfMatch, have.ETag); err != nil {
				return err
			}
			cors, wrong := checkCORS(in.Body)
			if err := fault.InvalidFields(wrong); err != nil {
				return err
			}
			seen := row.UpdatedAt
			row.CORS, row.UpdatedAt = cors, models.Now()
			if out, err = viewTenantCORS(tx, *row); err != nil {
				return err
			}
			return orStale(tx.UpdateTenantCORS(*row, seen))
		})
	return out, err
}

// RemoveTenantCORS removes the CORS of a tenant, which leaves CORS to the projects that serve it again.
func (s *Service) RemoveTenantCORS(
	ctx context.Context, p access.Principal, in contract.TenantCORSRemoval,
) (contract.None, error) {
	_, err := s.SetTenantCORS(ctx, p, contract.TenantCORSUpdate{TenantPath: in.TenantPath, Condition: in.Condition})
	return contract.None{}, err
}
