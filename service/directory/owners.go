package directory

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
)

// Owners lists the app owners that are directly in a group.
func (s *Service) Owners(
	ctx context.Context, p access.Principal, in contract.GroupOwnerList,
) (models.List[contract.GroupOwner], error) {
	tx := s.DB.Read(ctx)
	var none models.List[contract.GroupOwner]
	row, _, err := findGroup(tx, p, in.Group, access.UserRead)
	if err != nil {
		return none, fmt.Errorf("directory: app owners of %s: %w", in.Group, err)
	}
	rows, err := tx.OwnersOfGroup(row.ID, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("directory: app owners of %s: %w", in.Group, err)
	}
	return models.MapList(rows, func(row models.OwnerRow) contract.GroupOwner {
		return contract.GroupOwner{
			Owner: row.Owner, Role: row.Role, HasKeys: row.HasKeys, Since: row.CreatedAt.UTC(),
		}
	}), nil
}

// SetOwner puts an app owner of keys into a group with a role. Rules can ask for RoleAdmin; an app doesn't manage
// members. The owner stays in the group when its last key is gone, so that its next key is in it again.
func (s *Service) SetOwner(
	ctx context.Context, p access.Principal, in contract.GroupOwnership,
) (contract.Group, error) {
	return s.changeGroup(ctx, p, in.Group, func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		if err := fault.InvalidFields(checkOwner("", in.Body.Owner, in.Body.Role)); err != nil {
			return err
		}
		count, err := tx.CountOwners(row.ID)
		if err != nil {
			return err
		}
		if count >= maxOwners {
			return fault.InvalidField("/owner", "too_many_owners", "A group can have at most %s app owners. Add the "+
				"others to a nested group.", humanize.Comma(maxOwners))
		}
		after.Added = []string{in.Body.Owner + " " + in.Body.Role}
		return tx.SetGroupOwners([]models.GroupOwner{{
			GroupID: row.ID, Owner: in.Body.Owner, Role: in.Body.Role, CreatedAt: models.Now(),
		}})
	})
}

// RemoveOwner takes an app owner out of a group.
func (s *Service) RemoveOwner(
	ctx context.Context, p access.Principal, in contract.GroupOwnerRemoval,
) (contract.None, error) {
	_, err := s.changeGroup(ctx, p, in.Group, func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		was, err := tx.DeleteGroupOwner(row.ID, in.Owner)
		if err == nil && !was {
			return access.NotFound()
		}
		after.Removed = []string{in.Owner}
		return err
	})
	return contract.None{}, err
}

// checkOwner checks the name and role of an app owner in a group. pointer is where they stand.
func checkOwner(pointer, owner, role string) (wrong []fault.Field) {
	switch {
	case strings.HasPrefix(owner, "usr_"):
		wrong = append(wrong, fault.Field{
			Pointer: pointer + "/owner",
			Code:    "owner_is_user",
			Detail:  "This is the ID of a user. Add users as members of the group.",
		})
	case !keys.ValidOwner(owner):
		wrong = append(wrong, fault.Field{Pointer: pointer + "/owner", Code: "invalid_owner", Detail: keys.OwnerRule})
	}
	if !slices.Contains([]string{RoleMember, RoleAdmin}, role) {
		wrong = append(wrong, fault.Field{
			Pointer: pointer + "/role", Code: "invalid_role", Detail: "Use member or admin.",
		})
	}
	return wrong
}
