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

// Entry is the rules of who may join a tenant. With InviteOnly, only invited and
// approved users may.
type Entry struct {
	InviteOnly bool
	Approvals  []Approval `audit:"-"`
}

// Approval lets new users join whose provider confirms their address, and puts them
// into groups.
type Approval struct {
	ID        string
	Kind      string   // email or domain
	Value     string   // lower case
	Groups    []string // ids
	CreatedAt time.Time
}

// NewApproval is the input of Approve. Groups are ids.
type NewApproval struct {
	Kind, Value string
	Groups      []string
}

// Approvals lists the approvals of a tenant by age, or by value or created.
func (s *Service) Approvals(
	ctx context.Context, p access.Principal, tenant string, page models.Page,
) (models.List[Approval], error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, tenant, access.UserRead)
	if err != nil {
		return models.List[Approval]{}, fmt.Errorf("directory: approvals of %s: %w", tenant, err)
	}
	rows, err := tx.PreApprovalsListed(at.ID, page)
	if err != nil {
		return models.List[Approval]{}, fmt.Errorf("directory: approvals of %s: %w", tenant, err)
	}
	return models.MapList(rows, viewApproval), nil
}

// Entry returns the rules of who may join a tenant.
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
	if err != nil {
		return Entry{}, fmt.Errorf("directory: entry of %s: %w", tenant, err)
	}
	out := Entry{InviteOnly: rule.InviteOnly}
	for _, row := range rows {
		out.Approvals = append(out.Approvals, viewApproval(row))
	}
	return out, nil
}

// SetInviteOnly closes a tenant to new users who are not invited or approved, or
// opens it. Users who are in already stay.
func (s *Service) SetInviteOnly(ctx context.Context, p access.Principal, tenant string, only bool) error {
	err := s.change(ctx, p, inTenant(p, tenant), func(tx *models.Tx, at place) (outcome, error) {
		before, err := tx.TenantLoginOf(at.ID)
		if err != nil {
			return outcome{}, err
		}
		after := models.TenantLogin{TenantID: at.ID, InviteOnly: only, UpdatedAt: models.Now()}
		return outcome{
			object: at.ID,
			before: Entry{InviteOnly: before.InviteOnly},
			after:  Entry{InviteOnly: only},
		}, tx.SaveTenantLogin(after)
	})
	if err != nil {
		return fmt.Errorf("directory: change the entry of %s: %w", tenant, err)
	}
	return nil
}

// Approve lets new users join by their address or its domain.
func (s *Service) Approve(ctx context.Context, p access.Principal, tenant string, in NewApproval) (Approval, error) {
	var out Approval
	err := s.change(ctx, p, inTenant(p, tenant), func(tx *models.Tx, at place) (_ outcome, err error) {
		out, err = approve(tx, at, in)
		return outcome{object: out.ID, after: out}, err
	})
	if err != nil {
		return Approval{}, fmt.Errorf("directory: approve for %s: %w", tenant, err)
	}
	return out, nil
}

// approve inserts an approval. The tenant is locked.
func approve(tx *models.Tx, at place, in NewApproval) (Approval, error) {
	wrong := in.check()
	unknown, err := checkGroups(tx, at.ID, in.Groups)
	if err != nil {
		return Approval{}, err
	}
	if err := fault.InvalidFields(append(wrong, unknown...)); err != nil {
		return Approval{}, err
	}
	others, err := tx.PreApprovalsOf(at.ID)
	if err != nil {
		return Approval{}, err
	}
	if len(others) >= maxApprovals {
		return Approval{}, fault.New(
			fault.Conflict, "too_many_approvals", "A tenant has at most %d approvals.", maxApprovals,
		)
	}
	if err := access.CheckQuota(tx, at.team, models.QuotaApprovals); err != nil {
		return Approval{}, err
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
	err = tx.Insert(&row)
	if errors.Is(err, models.ErrDuplicate) {
		return Approval{}, takenField(
			"/value", "approved_already", fmt.Sprintf("The tenant approves of %s already.", in.Value),
			"End that approval first to give it other groups.",
		)
	}
	return viewApproval(row), err
}

// Disapprove deletes an approval; users who joined through it stay.
func (s *Service) Disapprove(ctx context.Context, p access.Principal, tenant, id string) error {
	err := s.change(ctx, p, inTenant(p, tenant), func(tx *models.Tx, at place) (outcome, error) {
		row, err := tx.PreApprovalByID(id)
		if err != nil {
			return outcome{}, absent(err)
		}
		if row.TenantID != at.ID {
			return outcome{}, access.NotFound()
		}
		return outcome{object: id, before: viewApproval(row)}, tx.DeletePreApproval(id)
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
		if !ValidDomain(in.Value) {
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
