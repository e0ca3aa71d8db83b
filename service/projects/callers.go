package projects

import (
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// Callers counts the callers of the last hour whose calls have been written: gateways write their counts every few
// seconds.
type Callers struct {
	Since  time.Time // begin of the time that the calls are from: between one and two hours ago
	Owners int64
	Calls  int64

	Ownerless bool // there were calls without an owner too
}

// Callers counts the callers of a project, or of one of its environments (an ID), who used keys or tokens of a tenant
// (an ID). "" means all.
func (s *Service) Callers(
	ctx context.Context, p access.Principal, ref, environment, tenant string,
) (Callers, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, ref, access.UsageRead)
	var out Callers
	if err == nil {
		out, err = countCallers(tx, models.CallFilter{Project: row.ID, Environment: environment, Tenant: tenant})
	}
	if err != nil {
		return out, fmt.Errorf("projects: find the callers of %s: %w", ref, err)
	}
	return out, nil
}

// CallersOfTenant counts the callers of the projects that serve a tenant who used the tenant's keys or are its users.
func (s *Service) CallersOfTenant(ctx context.Context, p access.Principal, ref string) (Callers, error) {
	tx := s.DB.Read(ctx)
	row, _, err := access.Tenant(tx, p, ref, access.UsageRead)
	var out Callers
	if err == nil {
		out, err = countCallers(tx, models.CallFilter{Tenant: row.ID})
	}
	if err != nil {
		return out, fmt.Errorf("projects: find the callers of tenant %s: %w", ref, err)
	}
	return out, nil
}

// CallersOfProduct counts the callers of a product's projects who used the product's keys.
func (s *Service) CallersOfProduct(ctx context.Context, p access.Principal, ref string) (Callers, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Product(tx, p, ref, access.UsageRead)
	var out Callers
	if err == nil {
		out, err = countCallers(tx, models.CallFilter{Product: row.ID})
	}
	if err != nil {
		return out, fmt.Errorf("projects: find the callers of product %s: %w", ref, err)
	}
	return out, nil
}

func countCallers(tx *models.Tx, of models.CallFilter) (out Callers, err error) {
	out.Since = callersSince(models.Now())
	out.Owners, out.Calls, out.Ownerless, err = tx.CountCallers(of, out.Since.Unix()/3600)
	return out, err
}

// callersSince is the begin of the hour before this one: calls are counted by the hour.
func callersSince(now time.Time) time.Time { return now.Truncate(time.Hour).Add(-time.Hour).UTC() }
