package directory

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

const maxApprovals = 1000

// SignupPolicy returns who may sign in to a tenant for the first time.
func (s *Service) SignupPolicy(
	ctx context.Context, p access.Principal, in contract.TenantPath,
) (contract.SignupPolicy, error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, in.Tenant, access.UserRead)
	if err != nil {
		return contract.SignupPolicy{}, fmt.Errorf("directory: sign-up policy of %s: %w", in.Tenant, err)
	}
	row, err := tx.SignupPolicyOf(at.ID)
	if err != nil {
		return contract.SignupPolicy{}, fmt.Errorf("directory: sign-up policy of %s: %w", in.Tenant, err)
	}
	return viewSignupPolicy(row), nil
}

// UpdateSignupPolicy closes a tenant to new users who are not invited or approved, or opens it. Existing users stay.
func (s *Service) UpdateSignupPolicy(
	ctx context.Context, p access.Principal, in contract.SignupPolicyUpdate,
) (contract.SignupPolicy, error) {
	var out contract.SignupPolicy
	err := s.change(ctx, p, inTenant(p, in.Tenant), func(tx *models.Tx, at place) (outcome, error) {
		row, err := tx.SignupPolicyOf(at.ID)
		if err != nil {
			return outcome{}, err
		}
		before := viewSignupPolicy(row)
		if err := access.Unchanged(in.IfMatch, before.ETag); err != nil {
			return outcome{}, err
		}
		if in.Body.InviteOnly != nil {
			row.InviteOnly = *in.Body.InviteOnly
		}
		row.UpdatedAt = models.Now()
		out = viewSignupPolicy(row)
		return outcome{object: at.ID, name: at.Name, before: before, after: out}, tx.SaveSignupPolicy(row)
	})
	if err != nil {
		return contract.SignupPolicy{}, fmt.Errorf("directory: change the sign-up policy of %s: %w", in.Tenant, err)
	}
	return out, nil
}

func viewSignupPolicy(row models.SignupPolicy) contract.SignupPolicy {
	return contract.SignupPolicy{InviteOnly: row.InviteOnly, ETag: access.ETag(row.UpdatedAt)}
}

// Approvals lists the approvals of a tenant by age, or by value or created.
func (s *Service) Approvals(
	ctx context.Context, p access.Principal, in contract.ApprovalList,
) (models.List[contract.Approval], error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, in.Tenant, access.UserRead)
	if err != nil {
		return models.List[contract.Approval]{}, fmt.Errorf("directory: approvals of %s: %w", in.Tenant, err)
	}
	rows, err := tx.ApprovalsListed(at.ID, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return models.List[contract.Approval]{}, fmt.Errorf("directory: approvals of %s: %w", in.Tenant, err)
	}
	return models.MapList(rows, viewApproval), nil
}

// Approval finds one approval.
func (s *Service) Approval(
	ctx context.Context, p access.Principal, in contract.ApprovalPath,
) (contract.Approval, error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, in.Tenant, access.UserRead)
	if err != nil {
		return contract.Approval{}, fmt.Errorf("directory: approval %s: %w", in.Approval, err)
	}
	row, err := findApproval(tx, at, in.Approval)
	if err != nil {
		return contract.Approval{}, fmt.Errorf("directory: approval %s: %w", in.Approval, err)
	}
	return viewApproval(row), nil
}

// CreateApproval lets new users sign in by their address or its domain.
func (s *Service) CreateApproval(
	ctx context.Context, p access.Principal, in contract.ApprovalCreation,
) (contract.Approval, error) {
	var out contract.Approval
	err := s.change(ctx, p, inTenant(p, in.Tenant), func(tx *models.Tx, at place) (_ outcome, err error) {
		out, err = approve(tx, at, in.Body)
		return outcome{object: out.ID, name: out.Value, after: out}, err
	})
	if err != nil {
		return contract.Approval{}, fmt.Errorf("directory: approve for %s: %w", in.Tenant, err)
	}
	return out, nil
}

// approve inserts an approval. The tenant is locked.
func approve(tx *models.Tx, at place, in contract.NewApproval) (contract.Approval, error) {
	wrong := checkApproval(&in)
	groups, unknown, err := groupsNamed(tx, at.ID, in.Groups)
	if err != nil {
		return contract.Approval{}, err
	}
	if err := fault.InvalidFields(append(wrong, unknown...)); err != nil {
		return contract.Approval{}, err
	}
	others, err := tx.ApprovalsOf(at.ID)
	if err != nil {
		return contract.Approval{}, err
	}
	if len(others) >= maxApprovals {
		return contract.Approval{}, fault.New(
			fault.Conflict, "too_many_approvals", "A tenant can have at most %s approvals.",
			humanize.Comma(maxApprovals),
		)
	}
	if err := access.CheckQuota(tx, at.team, models.QuotaApprovals); err != nil {
		return contract.Approval{}, err
	}
	now := models.Now()
	row := models.Approval{
		ID:        models.NewID("apv"),
		TenantID:  at.ID,
		Kind:      in.Kind,
		Value:     in.Value,
		Groups:    groups,
		CreatedAt: now,
		UpdatedAt: now,
	}
	err = tx.Insert(&row)
	if errors.Is(err, models.ErrDuplicate) {
		return contract.Approval{}, takenField(
			"/value", "approved_already", fmt.Sprintf("The tenant already has an approval for %s.", in.Value),
			"To change its groups, update that approval.",
		)
	}
	return viewApproval(row), err
}

// UpdateApproval changes the groups of an approval. Users who have signed in already keep theirs.
func (s *Service) UpdateApproval(
	ctx context.Context, p access.Principal, in contract.ApprovalUpdate,
) (contract.Approval, error) {
	var out contract.Approval
	err := s.change(ctx, p, inTenant(p, in.Tenant), func(tx *models.Tx, at place) (outcome, error) {
		row, err := findApproval(tx, at, in.Approval)
		if err != nil {
			return outcome{}, err
		}
		before := viewApproval(row)
		if err := access.Unchanged(in.IfMatch, before.ETag); err != nil {
			return outcome{}, err
		}
		if in.Body.Groups != nil {
			groups, unknown, err := groupsNamed(tx, at.ID, *in.Body.Groups)
			if err == nil {
				err = fault.InvalidFields(unknown)
			}
			if err != nil {
				return outcome{}, err
			}
			row.Groups = groups
		}
		row.UpdatedAt = models.Now()
		out = viewApproval(row)
		return outcome{object: row.ID, name: row.Value, before: before, after: out}, tx.UpdateApproval(row)
	})
	if err != nil {
		return contract.Approval{}, fmt.Errorf("directory: update the approval %s: %w", in.Approval, err)
	}
	return out, nil
}

// DeleteApproval deletes an approval; users who signed in with it stay.
func (s *Service) DeleteApproval(
	ctx context.Context, p access.Principal, in contract.ApprovalPath,
) (contract.None, error) {
	err := s.change(ctx, p, inTenant(p, in.Tenant), func(tx *models.Tx, at place) (outcome, error) {
		row, err := findApproval(tx, at, in.Approval)
		if err != nil {
			return outcome{}, err
		}
		return outcome{object: row.ID, name: row.Value, before: viewApproval(row)}, tx.DeleteApproval(row.ID)
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("directory: delete the approval %s: %w", in.Approval, err)
	}
	return contract.None{}, nil
}

// findApproval finds an approval of the tenant.
func findApproval(tx *models.Tx, at place, id string) (models.Approval, error) {
	row, err := tx.ApprovalByID(id)
	if err != nil {
		return row, absent(err)
	}
	if row.TenantID != at.ID {
		return row, access.NotFound()
	}
	return row, nil
}

// checkApproval sets the kind if it is left out, writes the value in lowercase, and returns what is invalid.
func checkApproval(in *contract.NewApproval) []fault.Field {
	if in.Kind == "" {
		in.Kind = contract.ByDomain
		if strings.Contains(in.Value, "@") {
			in.Kind = contract.ByEmail
		}
	}
	switch in.Kind {
	case contract.ByEmail:
		email, wrong := checkEmail("/value", in.Value)
		in.Value = email
		return wrong
	case contract.ByDomain:
		in.Value = ascii.Lower(strings.TrimSpace(in.Value))
		if !ValidDomain(in.Value) {
			return []fault.Field{{
				Pointer: "/value",
				Code:    "invalid_domain",
				Detail:  "Use a domain such as example.com.",
			}}
		}
		return nil
	}
	return []fault.Field{{Pointer: "/kind", Code: "invalid_kind", Detail: "Use email or domain."}}
}

func viewApproval(row models.Approval) contract.Approval {
	return contract.Approval{
		ApprovalRecord: contract.ApprovalRecord{
			ID:        row.ID,
			Kind:      row.Kind,
			Value:     row.Value,
			Groups:    row.Groups,
			CreatedAt: row.CreatedAt.UTC(),
		},
		ETag:      access.ETag(row.UpdatedAt),
		UpdatedAt: row.UpdatedAt.UTC(),
	}
}
