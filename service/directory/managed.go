package directory

import (
	"context"
	"fmt"
	"strings"

	"postern/core/contract"
	"postern/models"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/service/access"
)

// ManagedGroups lists the groups that an end user is an admin of, by name.
func (s *Service) ManagedGroups(ctx context.Context, user string) ([]contract.UserGroup, error) {
	list, err := memberships(s.DB.Read(ctx), user)
	if err != nil {
		return nil, fmt.Errorf("directory: groups that %s manages: %w", user, err)
	}
	var out []contract.UserGroup
	for _, one := range list {
		if one.IsDirect() && *one.Role == RoleAdmin {
			out = append(out, one)
		}
	}
	return out, nil
}

// ManagedMembers is Members for an admin of the group, an authenticated end user.
func (s *Service) ManagedMembers(
	ctx context.Context, admin, group string, page models.Page,
) (models.List[contract.GroupMember], error) {
	tx := s.DB.Read(ctx)
	if _, err := managedBy(tx, admin, group); err != nil {
		return models.List[contract.GroupMember]{}, fmt.Errorf("directory: members of %s: %w", group, err)
	}
	rows, err := tx.MembersOfGroup(group, page)
	if err != nil {
		return models.List[contract.GroupMember]{}, fmt.Errorf("directory: members of %s: %w", group, err)
	}
	return models.MapList(rows, viewMember), nil
}

// SetManagedMember is SetMember for an admin of the group, an authenticated end user. The member is named
// by the id or the verified email address of a user of the tenant.
func (s *Service) SetManagedMember(
	ctx context.Context, admin, group, member, role string,
) (contract.GroupMember, error) {
	var user models.EndUser
	_, err := s.changeGroupAt(ctx, access.EndUser(admin), ofManaged(admin, group), group,
		func(tx *models.Tx, row *models.UserGroup, after *groupChange) (err error) {
			if user, err = memberOf(tx, row.TenantID, member); err != nil {
				return err
			}
			return setMember(user.ID, role)(tx, row, after)
		})
	if err != nil {
		return contract.GroupMember{}, err
	}
	return contract.GroupMember{User: user.ID, Email: user.Email, Name: user.Name, State: user.State, Role: role}, nil
}

// RemoveManagedMember is RemoveMember for an admin of the group, an authenticated end user. Admins can
// remove themselves.
func (s *Service) RemoveManagedMember(ctx context.Context, admin, group, user string) error {
	_, err := s.changeGroupAt(ctx, access.EndUser(admin), ofManaged(admin, group), group, removeMember(user))
	return err
}

// memberOf returns the user of a tenant with an id or a verified email address: anyone can claim an address that no
// provider has verified. Several users can have the same address, because users are told apart by their provider.
func memberOf(tx *models.Tx, tenant, ref string) (models.EndUser, error) {
	unknown := fault.InvalidField("/user", "unknown_user", "No user has the ID or verified email address %q.", ref)
	found, err := tx.EndUsersWithin(tenant, []string{ref})
	if err == nil && len(found) == 0 {
		found, err = tx.EndUsersByEmail(tenant, ascii.Lower(strings.TrimSpace(ref)))
	}
	switch {
	case err != nil:
		return models.EndUser{}, err
	case len(found) == 0:
		return models.EndUser{}, unknown
	case len(found) > 1:
		return models.EndUser{}, fault.InvalidField("/user", "ambiguous_user",
			"Several users have this email address. Use the user's ID.")
	}
	return found[0], nil
}

// ofManaged returns a find function for change: the tenant of a group that an end user is an admin of.
func ofManaged(admin, group string) func(*models.Tx) (place, error) {
	return func(tx *models.Tx) (place, error) { return managedBy(tx, admin, group) }
}

// managedBy returns the tenant of a group. It fails as not found unless the user, who is not frozen, is
// an admin of the group itself: an admin of a group around it manages only that one.
func managedBy(tx *models.Tx, admin, group string) (place, error) {
	user, err := tx.EndUserByID(admin)
	if err != nil {
		return place{}, absent(err)
	}
	row, err := tx.UserGroupByID(group)
	if err != nil {
		return place{}, absent(err)
	}
	roles, err := tx.GroupMembershipsOf(admin)
	if err != nil {
		return place{}, err
	}
	for _, one := range roles {
		if one.GroupID == row.ID && one.Role == RoleAdmin && user.State == Active && user.TenantID == row.TenantID {
			return placeOf(tx, row.TenantID)
		}
	}
	return place{}, access.NotFound()
}
