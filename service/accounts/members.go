package accounts

import (
	"context"
	"errors"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

func viewMember(row models.Member) contract.TeamMember {
	return contract.TeamMember{
		Account:  row.AccountID,
		Name:     row.Name,
		Email:    row.Email,
		Role:     row.Role,
		ETag:     etag(row.Role),
		JoinedAt: row.CreatedAt.UTC(),
	}
}

// Members returns the members of a team in the order in which their accounts were
// created.
func (s *Service) Members(
	ctx context.Context, p access.Principal, in contract.TeamMemberList,
) (models.List[contract.TeamMember], error) {
	var none models.List[contract.TeamMember]
	if err := access.Check(p, in.Team, access.MemberRead); err != nil {
		return none, err
	}
	rows, err := s.DB.Read(ctx).MembersOf(in.Team, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("accounts: members of %s: %w", in.Team, err)
	}
	return models.MapList(rows, viewMember), nil
}

// Member returns one member of a team.
func (s *Service) Member(
	ctx context.Context, p access.Principal, in contract.TeamMemberPath,
) (contract.TeamMember, error) {
	if err := access.Check(p, in.Team, access.MemberRead); err != nil {
		return contract.TeamMember{}, err
	}
	tx := s.DB.Read(ctx)
	row, err := memberOf(tx, in.Team, in.Account)
	if err != nil {
		return contract.TeamMember{}, fmt.Errorf("accounts: member %s of %s: %w", in.Account, in.Team, err)
	}
	return withAccount(tx, row)
}

// withAccount returns a member with the name and the address of their account.
func withAccount(tx *models.Tx, row models.Membership) (contract.TeamMember, error) {
	account, err := tx.AccountByID(row.AccountID)
	if err != nil {
		return contract.TeamMember{}, fmt.Errorf("accounts: account %s: %w", row.AccountID, err)
	}
	return viewMember(models.Member{Membership: row, Name: account.Name, Email: account.Email}), nil
}

// memberRoles are the roles of accounts in a team.
var memberRoles = map[access.Role]bool{access.Owner: true, access.Member: true, access.Viewer: true}

func checkRole(role access.Role) error {
	if memberRoles[role] {
		return nil
	}
	return fault.InvalidField("/role", "invalid_role", "Use owner, member or viewer.")
}

// UpdateMember changes a member's role. Conflict last_owner for a team's last owner.
func (s *Service) UpdateMember(
	ctx context.Context, p access.Principal, in contract.TeamMemberUpdate,
) (contract.TeamMember, error) {
	if err := access.Check(p, in.Team, access.MemberChange); err != nil {
		return contract.TeamMember{}, err
	}
	if in.Body.Role != nil {
		if err := checkRole(access.Role(*in.Body.Role)); err != nil {
			return contract.TeamMember{}, err
		}
	}
	var out contract.TeamMember
	err := s.withLockedTeam(ctx, p, in.Team, access.MemberChange, func(tx *models.Tx, _ models.Team) error {
		row, err := memberOf(tx, in.Team, in.Account)
		if err != nil {
			return err
		}
		if err := access.Unchanged(in.IfMatch, etag(row.Role)); err != nil {
			return err
		}
		if in.Body.Role != nil {
			if err := changeRole(tx, p, &row, access.Role(*in.Body.Role)); err != nil {
				return err
			}
		}
		out, err = withAccount(tx, row)
		return err
	})
	return out, err
}

func changeRole(tx *models.Tx, p access.Principal, row *models.Membership, role access.Role) error {
	before := *row
	if role != access.Owner {
		if err := anotherOwner(tx, before); err != nil {
			return err
		}
	}
	if err := tx.SetRole(row.TeamID, row.AccountID, string(role)); err != nil {
		return err
	}
	row.Role = string(role)
	if !access.Can(role, access.InvitationCreate) {
		if err := revokeInvitationsOf(tx, p, row.TeamID, row.AccountID); err != nil {
			return err
		}
	}
	account, err := tx.AccountByID(row.AccountID)
	if err != nil {
		return err
	}
	return access.Record(tx, p, access.Entry{
		Action: access.MemberChange,
		Object: row.AccountID,
		Name:   account.Email,
		Team:   row.TeamID,
		Before: before,
		After:  *row,
	})
}

// RemoveMember removes a member from a team. For the caller's own account it is Leave.
func (s *Service) RemoveMember(
	ctx context.Context, p access.Principal, in contract.TeamMemberPath,
) (contract.None, error) {
	if in.Account == p.Account && in.Account != "" {
		return s.Leave(ctx, p, in.TeamPath)
	}
	return contract.None{}, s.removeMember(ctx, p, in.Team, in.Account, access.MemberChange)
}

// Leave removes the caller's account from a team. Conflict last_owner for the last owner.
func (s *Service) Leave(ctx context.Context, p access.Principal, in contract.TeamPath) (contract.None, error) {
	return contract.None{}, s.removeMember(ctx, p, in.Team, p.Account, access.MemberLeave)
}

func (s *Service) removeMember(
	ctx context.Context, p access.Principal, team, account string, action access.Action,
) error {
	return s.withLockedTeam(ctx, p, team, action, func(tx *models.Tx, _ models.Team) error {
		row, err := memberOf(tx, team, account)
		if err != nil {
			return err
		}
		if err := anotherOwner(tx, row); err != nil {
			return err
		}
		removed, err := tx.AccountByID(account)
		if err != nil {
			return err
		}
		return takeOut(tx, p, row, action, removed.Email)
	})
}

// takeOut removes a member from a team whose row is locked. The team's audit log keeps the name that is given, such as
// the member's email address, or none.
func takeOut(tx *models.Tx, p access.Principal, row models.Membership, action access.Action, name string) error {
	if err := tx.DeleteMembership(row.TeamID, row.AccountID); err != nil {
		return err
	}
	if err := revokeInvitationsOf(tx, p, row.TeamID, row.AccountID); err != nil {
		return err
	}
	return access.Record(tx, p, access.Entry{
		Action: action, Object: row.AccountID, Name: name, Team: row.TeamID, Before: row,
	})
}

func memberOf(tx *models.Tx, team, account string) (models.Membership, error) {
	row, err := tx.MembershipOf(team, account)
	if errors.Is(err, models.ErrNotFound) {
		return row, access.NotFound()
	}
	return row, err
}

// codeLastOwner is the code of the refusal that a team would have no owner left.
const codeLastOwner = "last_owner"

// anotherOwner refuses to remove a team's last owner: no other role may invite. The caller
// has locked the team, so that two owners cannot leave at once.
func anotherOwner(tx *models.Tx, row models.Membership) error {
	if access.Role(row.Role) != access.Owner {
		return nil
	}
	owners, err := tx.CountRole(row.TeamID, row.Role)
	if err != nil {
		return err
	}
	if owners < 2 {
		return fault.New(
			fault.Conflict, codeLastOwner, "A team must have at least one owner. Make another member an owner first.",
		)
	}
	return nil
}
