package directory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Members lists the direct members of a group.
func (s *Service) Members(
	ctx context.Context, p access.Principal, in contract.GroupMemberList,
) (models.List[contract.GroupMember], error) {
	tx := s.DB.Read(ctx)
	var none models.List[contract.GroupMember]
	row, _, err := findGroup(tx, p, in.Group, access.UserRead)
	if err != nil {
		return none, fmt.Errorf("directory: members of %s: %w", in.Group, err)
	}
	rows, err := tx.MembersOfGroup(row.ID, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("directory: members of %s: %w", in.Group, err)
	}
	return models.MapList(rows, viewMember), nil
}

func viewMember(row models.MemberRow) contract.GroupMember {
	return contract.GroupMember{
		User:  row.UserID,
		Email: row.Email,
		Name:  row.Name,
		State: row.State,
		Role:  row.Role,
		Since: row.CreatedAt.UTC(),
	}
}

// SetMember puts an end user into a group with a role. Rules of projects can ask for RoleAdmin, and
// admins manage the members themselves; see SetManagedMember.
func (s *Service) SetMember(
	ctx context.Context, p access.Principal, in contract.GroupMembership,
) (contract.Group, error) {
	return s.changeGroup(ctx, p, in.Group, setMember(in.User, in.Body.Role))
}

// RemoveMember takes an end user out of a group.
func (s *Service) RemoveMember(
	ctx context.Context, p access.Principal, in contract.GroupMemberPath,
) (contract.None, error) {
	_, err := s.changeGroup(ctx, p, in.Group, removeMember(in.User))
	return contract.None{}, err
}

func setMember(user, role string) func(*models.Tx, *models.UserGroup, *groupChange) error {
	return func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		switch role {
		case RoleMember, RoleAdmin:
		default:
			return fault.InvalidField("/role", "invalid_role", "Use member or admin.")
		}
		if err := checkUsers(tx, row.TenantID, []string{user}); err != nil {
			return err
		}
		after.Added = []string{user + " " + role}
		return tx.SetGroupMembers([]models.GroupMember{{
			GroupID:   row.ID,
			UserID:    user,
			Role:      role,
			CreatedAt: models.Now(),
		}})
	}
}

func removeMember(user string) func(*models.Tx, *models.UserGroup, *groupChange) error {
	return func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		gone, err := tx.DeleteGroupMembers(row.ID, user)
		if err == nil && gone == 0 {
			return access.NotFound()
		}
		after.Removed = []string{user}
		return err
	}
}

// Nest puts a group into another of its tenant: members of the inner one are
// members of the outer one.
func (s *Service) Nest(ctx context.Context, p access.Principal, in contract.NestingPath) (contract.Group, error) {
	return s.changeGroup(ctx, p, in.Group, func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		after.Added = []string{in.Child}
		return nest(tx, *row, in.Child, models.Now())
	})
}

// nest puts a group into another one, unless that would create a cycle. The tenant is locked.
func nest(tx *models.Tx, outer models.UserGroup, inner string, now time.Time) error {
	found, err := tx.GroupsWithin(outer.TenantID, []string{inner})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fault.InvalidField("/child", "unknown_group", "The tenant has no such group.")
	}
	if inner == outer.ID {
		return fault.InvalidField("/child", "group_cycle", "A group can't contain itself.")
	}
	above, err := tx.Contains(inner, outer.ID)
	if err != nil {
		return err
	}
	if above {
		path, err := pathBetween(tx, found[0], outer.ID)
		if err != nil {
			return err
		}
		return fault.InvalidField(
			"/child", "group_cycle", "A group can't contain itself: %s is already in %s.", outer.Name,
			strings.Join(path, ", which is in "),
		)
	}
	_, err = tx.Nest(models.GroupGroup{ParentID: outer.ID, ChildID: inner, CreatedAt: now})
	return err
}

// pathBetween returns the names of the groups on a shortest path from a group up to
// one that contains it, without the latter; nil if there is none.
func pathBetween(tx *models.Tx, from models.UserGroup, to string) ([]string, error) {
	paths := map[string][]string{from.ID: {from.Name}}
	for level := []string{from.ID}; len(level) > 0; {
		var below []string
		for _, id := range level {
			children, err := tx.ChildrenOf(id)
			if err != nil {
				return nil, err
			}
			for _, child := range children {
				if child.ID == to {
					return paths[id], nil
				}
				if paths[child.ID] == nil {
					paths[child.ID] = append([]string{child.Name}, paths[id]...)
					below = append(below, child.ID)
				}
			}
		}
		level = below
	}
	return nil, nil
}

// Unnest takes a group out of another.
func (s *Service) Unnest(ctx context.Context, p access.Principal, in contract.NestingPath) (contract.None, error) {
	_, err := s.changeGroup(ctx, p, in.Group, func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		was, err := tx.Unnest(row.ID, in.Child)
		if err == nil && !was {
			return access.NotFound()
		}
		after.Removed = []string{in.Child}
		return err
	})
	return contract.None{}, err
}

// Replacement is a change of a group and of its members, all at once. Ids are of
// users and groups.
type Replacement struct {
	GroupInput
	Clear       bool // everything that is in it leaves first
	Add, Remove []string
}

// ReplaceGroup applies a Replacement as a whole or not at all, as SCIM PATCH requires
// (RFC 7644, 3.5.2). With ifMatch not empty it is refused as stale unless that is still the group's ETag. Ids to remove
// that are not members are ignored.
func (s *Service) ReplaceGroup(
	ctx context.Context, p access.Principal, id, ifMatch string, in Replacement,
) (contract.Group, error) {
	return s.changeGroup(ctx, p, id, func(tx *models.Tx, row *models.UserGroup, after *groupChange) (err error) {
		if err := access.Unchanged(ifMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		if err := fault.InvalidFields(in.apply(row)); err != nil {
			return err
		}
		if in.Clear {
			after.Removed = []string{"all"}
			err = empty(tx, row.ID, in.Add)
		}
		if err == nil && len(in.Remove) > 0 {
			after.Removed = append(after.Removed, in.Remove...)
			err = take(tx, row.ID, in.Remove)
		}
		if err == nil {
			after.Added, err = put(tx, *row, in.Add, models.Now())
		}
		return err
	})
}

// empty removes all members and nested groups of a group but those in stays, which
// keep their role.
func empty(tx *models.Tx, group string, stays []string) error {
	members, err := models.AllPages(func(page models.Page) (models.List[models.MemberRow], error) {
		return tx.MembersOfGroup(group, page)
	})
	if err != nil {
		return err
	}
	stay := map[string]bool{}
	for _, id := range stays {
		stay[id] = true
	}
	var leave []string
	for _, row := range members {
		if !stay[row.UserID] {
			leave = append(leave, row.UserID)
		}
	}
	for _, chunk := range chunks(leave) {
		if _, err := tx.DeleteGroupMembers(group, chunk...); err != nil {
			return err
		}
	}
	children, err := tx.ChildrenOf(group)
	if err != nil {
		return err
	}
	for _, child := range children {
		if stay[child.ID] {
			continue
		}
		if _, err := tx.Unnest(group, child.ID); err != nil {
			return err
		}
	}
	return nil
}

func take(tx *models.Tx, group string, ids []string) error {
	users, groups := apart(ids)
	if len(users) > 0 {
		if _, err := tx.DeleteGroupMembers(group, users...); err != nil {
			return err
		}
	}
	for _, inner := range groups {
		if _, err := tx.Unnest(group, inner); err != nil {
			return err
		}
	}
	return nil
}

// put adds users and groups to a group and returns their ids.
func put(tx *models.Tx, row models.UserGroup, ids []string, now time.Time) ([]string, error) {
	if len(ids) > maxMembers {
		return nil, fault.InvalidField("/members", "too_many", "Add at most %s members at a time.",
			humanize.Comma(maxMembers))
	}
	users, groups := apart(ids)
	if err := checkUsers(tx, row.TenantID, users); err != nil {
		return nil, err
	}
	for _, chunk := range chunks(users) {
		var members []models.GroupMember
		for _, user := range chunk {
			members = append(members, models.GroupMember{
				GroupID:   row.ID,
				UserID:    user,
				Role:      RoleMember,
				CreatedAt: now,
			})
		}
		if err := tx.AddGroupMembers(members); err != nil {
			return nil, err
		}
	}
	for _, inner := range groups {
		if err := nest(tx, row, inner, now); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// apart separates the ids of users and of groups, each once.
func apart(ids []string) (users, groups []string) {
	seen := map[string]bool{}
	for _, id := range ids {
		again := seen[id]
		seen[id] = true
		switch {
		case again:
		case strings.HasPrefix(id, "grp_"):
			groups = append(groups, id)
		default:
			users = append(users, id)
		}
	}
	return users, groups
}

// chunks splits ids so that the parameters of a statement stay below the databases'
// limits.
func chunks(ids []string) [][]string { return slices.Collect(slices.Chunk(ids, 500)) }

// checkUsers fails if one of the ids is not a user of the tenant.
func checkUsers(tx *models.Tx, tenant string, ids []string) error {
	for _, chunk := range chunks(ids) {
		found, err := tx.EndUsersWithin(tenant, chunk)
		if err != nil {
			return err
		}
		for _, id := range chunk {
			if !slices.ContainsFunc(found, func(u models.EndUser) bool { return u.ID == id }) {
				return fault.InvalidField(
					"/members", "unknown_user", "The tenant has no user %q.", id,
				)
			}
		}
	}
	return nil
}
