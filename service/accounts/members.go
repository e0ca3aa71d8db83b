package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Member is an account in a team.
type Member struct {
	Account  string // id
	Name     string
	Email    string
	Role     access.Role
	ETag     string
	JoinedAt time.Time
}

func viewMember(row models.Member) Member {
	return Member{
		Account:  row.AccountID,
		Name:     row.Name,
		Email:    row.Email,
		Role:     access.Role(row.Role),
		ETag:     etag(row.Role),
		JoinedAt: row.CreatedAt,
	}
}

// Members returns the members of a team in the order in which their accounts were
// created.
func (s *Service) Members(
	ctx context.Context, p access.Principal, team string, page models.Page,
) (models.List[Member], error) {
	if err := access.Check(p, team, access.MemberRead); err != nil {
		return models.List[Member]{}, err
	}
	rows, err := s.DB.Read(ctx).MembersOf(team, page)
	if err != nil {
		return models.List[Member]{}, fmt.Errorf("accounts: members of %s: %w", team, err)
	}
	return models.MapList(rows, viewMember), nil
}

// memberRoles are the roles of accounts in a team.
var memberRoles = map[access.Role]bool{access.Owner: true, access.Member: true, access.Viewer: true}

func checkRole(role access.Role) error {
	if memberRoles[role] {
		return nil
	}
	return fault.InvalidField("/role", "invalid_role", "Use owner, member or viewer.")
}

// ChangeRole changes a member's role. If ifMatch is neither empty nor the member's ETag,
// the change is refused. Conflict last_owner for a team's last owner.
func (s *Service) ChangeRole(
	ctx context.Context, p access.Principal, team, account, ifMatch string, role access.Role,
) (Member, error) {
	if err := access.Check(p, team, access.MemberChange); err != nil {
		return Member{}, err
	}
	if err := checkRole(role); err != nil {
		return Member{}, err
	}
	var out Member
	err := s.withLockedTeam(ctx, p, team, access.MemberChange, func(tx *models.Tx, _ models.Team) error {
		row, err := memberOf(tx, team, account)
		if err != nil {
			return err
		}
		if err := access.Unchanged(ifMatch, etag(row.Role)); err != nil {
			return err
		}
		before := row
		if role != access.Owner {
			if err := anotherOwner(tx, row); err != nil {
				return err
			}
		}
		if err := tx.SetRole(team, account, string(role)); err != nil {
			return err
		}
		row.Role = string(role)
		if !access.Can(role, access.InvitationCreate) {
			if err := revokeInvitationsOf(tx, p, team, account); err != nil {
				return err
			}
		}
		person, err := tx.AccountByID(account)
		if err != nil {
			return err
		}
		out = viewMember(models.Member{Membership: row, Name: person.Name, Email: person.Email})
		return access.Record(tx, p, access.Entry{
			Action: access.MemberChange,
			Object: account,
			Team:   team,
			Before: before,
			After:  row,
		})
	})
	return out, err
}

// RemoveMember removes a member from a team. For the caller's own account it is Leave.
func (s *Service) RemoveMember(ctx context.Context, p access.Principal, team, account string) error {
	if account == p.Account && account != "" {
		return s.Leave(ctx, p, team)
	}
	return s.removeMember(ctx, p, team, account, access.MemberChange)
}

// Leave removes the caller's account from a team. Conflict last_owner for the last owner.
func (s *Service) Leave(ctx context.Context, p access.Principal, team string) error {
	return s.removeMember(ctx, p, team, p.Account, access.MemberLeave)
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
		return takeOut(tx, p, row, action)
	})
}

// takeOut removes a member from a team whose row is locked.
func takeOut(tx *models.Tx, p access.Principal, row models.Membership, action access.Action) error {
	if err := tx.DeleteMembership(row.TeamID, row.AccountID); err != nil {
		return err
	}
	if err := revokeInvitationsOf(tx, p, row.TeamID, row.AccountID); err != nil {
		return err
	}
	return access.Record(tx, p, access.Entry{Action: action, Object: row.AccountID, Team: row.TeamID, Before: row})
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
			fault.Conflict, codeLastOwner, "A team keeps at least one owner. Make another member an owner first.",
		)
	}
	return nil
}
