package directory

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

const maxApprovals = 1000

// Entry is how people come to a tenant: with InviteOnly, who is expected or
// approved, and nobody else.
type Entry struct {
	InviteOnly bool
	Approvals  []Approval `audit:"-"`
}

// Approval lets people in whose provider confirms their address, into groups.
type Approval struct {
	ID        string
	Kind      string   // email or domain
	Value     string   // lower case
	Groups    []string // ids
	CreatedAt time.Time
}

// NewApproval is an approval to be made. Groups are ids.
type NewApproval struct {
	Kind, Value string
	Groups      []string
}

// Entry tells how people come to a tenant.
func (s *Service) Entry(ctx context.Context, p access.Principal, tenant string) (Entry, error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, tenant, access.UserRead)
	if err != nil {
		return Entry{}, fmt.Errorf("directory: entry of %s: %w", tenant, err)
	}
	rule, err := tx.TenantLoginOf(at.ID)
	if err != nil {
		return Entry{}, fmt.Errorf("directory: entry of %s: %w", tenant, err)
	}
	rows, err := tx.PreApprovalsOf(at.ID)
	out := Entry{InviteOnly: rule.InviteOnly}
	for _, row := range rows {
		out.Approvals = append(out.Approvals, viewApproval(row))
	}
	return out, err
}

// SetInviteOnly closes a tenant to people who are not expected, or opens it. Who is
// in already stays.
func (s *Service) SetInviteOnly(ctx context.Context, p access.Principal, tenant string, only bool) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		at, err := findTenant(tx, p, tenant, access.UserUpdate)
		if err != nil {
			return err
		}
		before, err := tx.TenantLoginOf(at.ID)
		if err != nil {
			return err
		}
		if err := tx.SaveTenantLogin(models.TenantLogin{
			TenantID:   at.ID,
			InviteOnly: only,
			UpdatedAt:  models.Now(),
		}); err != nil {
			return err
		}
		return record(tx, p, at, at.ID, Entry{InviteOnly: before.InviteOnly}, Entry{InviteOnly: only})
	})
	if err != nil {
		return fmt.Errorf("directory: change the entry of %s: %w", tenant, err)
	}
	return nil
}

// Approve lets people in by their address or its domain.
func (s *Service) Approve(ctx context.Context, p access.Principal, tenant string, in NewApproval) (Approval, error) {
	var out Approval
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		at, err := findTenant(tx, p, tenant, access.UserUpdate)
		if err != nil {
			return err
		}
		wrong := in.check()
		unknown, err := checkGroups(tx, at.ID, in.Groups)
		if err := errors.Join(err, fault.InvalidFields(append(wrong, unknown...))); err != nil {
			return err
		}
		others, err := tx.PreApprovalsOf(at.ID)
		if err != nil {
			return err
		}
		if len(others) >= maxApprovals {
			return fault.New(fault.Conflict, "too_many_approvals", "A tenant has at most %d approvals.", maxApprovals)
		}
		row := models.PreApproval{
			ID:        models.NewID("apv"),
			TenantID:  at.ID,
			Kind:      in.Kind,
			Value:     in.Value,
			Groups:    in.Groups,
			CreatedAt: models.Now(),
		}
		if row.Groups == nil {
			row.Groups = []string{}
		}
		if err := tx.Insert(&row); errors.Is(err, models.ErrDuplicate) {
			return takenField(
				"/value", "approved_already", fmt.Sprintf("The tenant approves of %s already.", in.Value),
				"End that approval first to give it other groups.",
			)
		} else if err != nil {
			return err
		}
		out = viewApproval(row)
		return record(tx, p, at, row.ID, nil, out)
	})
	if err != nil {
		return Approval{}, fmt.Errorf("directory: approve for %s: %w", tenant, err)
	}
	return out, nil
}

// Disapprove ends an approval; who came by it stays.
func (s *Service) Disapprove(ctx context.Context, p access.Principal, tenant, id string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		at, err := findTenant(tx, p, tenant, access.UserUpdate)
		if err != nil {
			return err
		}
		row, err := tx.PreApprovalByID(id)
		if err != nil {
			return absent(err)
		}
		if row.TenantID != at.ID {
			return access.NotFound()
		}
		if err := tx.DeletePreApproval(id); err != nil {
			return err
		}
		return record(tx, p, at, id, viewApproval(row), nil)
	})
	if err != nil {
		return fmt.Errorf("directory: end the approval %s: %w", id, err)
	}
	return nil
}

func (in *NewApproval) check() []fault.Field {
	switch in.Kind {
	case ByEmail:
		email, wrong := checkEmail("/value", in.Value)
		in.Value = email
		return wrong
	case ByDomain:
		if !domainName.MatchString(in.Value) || len(in.Value) > 253 {
			return []fault.Field{{
				Pointer: "/value",
				Code:    "invalid_domain",
				Detail:  "Give a domain in lower case, such as example.com.",
			}}
		}
		return nil
	}
	return []fault.Field{{Pointer: "/kind", Code: "invalid_kind", Detail: "Use email or domain."}}
}

func viewApproval(row models.PreApproval) Approval {
	return Approval{ID: row.ID, Kind: row.Kind, Value: row.Value, Groups: row.Groups, CreatedAt: row.CreatedAt}
}
