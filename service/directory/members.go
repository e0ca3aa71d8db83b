package directory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Members lists the direct members of a group.
func (s *Service) Members(
	ctx context.Context, p access.Principal, group string, page models.Page,
) (models.List[Member], error) {
	tx := s.DB.Read(ctx)
	row, _, err := findGroup(tx, p, group, access.UserRead)
	if err != nil {
		return models.List[Member]{}, fmt.Errorf("directory: members of %s: %w", group, err)
	}
	rows, err := tx.MembersOfGroup(row.ID, page)
	if err != nil {
		return models.List[Member]{}, fmt.Errorf("directory: members of %s: %w", group, err)
	}
	return models.MapList(rows, viewMember), nil
}

func viewMember(row models.MemberRow) Member {
	return Member{
		User:  row.UserID,
		Email: row.Email,
		Name:  row.Name,
		State: row.State,
		Role:  row.Role,
		Since: row.CreatedAt,
	}
}

// SetMember puts an end user into a group with a role, of which there is one so
// far: RoleAdmin is kept where it was given before, and decides nothing yet.
func (s *Service) SetMember(ctx context.Context, p access.Principal, group, user, role string) (GroupDetail, error) {
	return s.changeGroup(ctx, p, group, func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		switch role {
		case RoleMember:
		case RoleAdmin:
			return fault.InvalidField("/role", "not_available_yet", "The role admin is not available yet. Use "+
				"member, or leave role out.")
		default:
			return fault.InvalidField("/role", "invalid_role", "Use member, or leave role out.")
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
	})
}

// RemoveMember takes an end user out of a group.
func (s *Service) RemoveMember(ctx context.Context, p access.Principal, group, user string) error {
	_, err := s.changeGroup(ctx, p, group, func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		gone, err := tx.DeleteGroupMembers(row.ID, user)
		if err == nil && gone == 0 {
			return access.NotFound()
		}
		after.Removed = []string{user}
		return err
	})
	return err
}

// Nest puts a group into another of its tenant: members of the inner one are
// members of the outer one.
func (s *Service) Nest(ctx context.Context, p access.Principal, outer, inner string) (GroupDetail, error) {
	return s.changeGroup(ctx, p, outer, func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		after.Added = []string{inner}
		return nest(tx, *row, inner, models.Now())
	})
}

// nest refuses a circle. The tenant is locked.
func nest(tx *models.Tx, outer models.UserGroup, inner string, now time.Time) error {
	found, err := tx.GroupsWithin(outer.TenantID, []string{inner})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fault.InvalidField("/group", "unknown_group", "This is not the id of a group of the same tenant.")
	}
	if inner == outer.ID {
		return fault.InvalidField("/group", "group_cycle", "A group cannot contain itself.")
	}
	above, err := tx.Contains(inner, outer.ID)
	if err != nil {
		return err
	}
	if above {
		way, err := wayDown(tx, found[0], outer.ID)
		if err != nil {
			return err
		}
		return fault.InvalidField(
			"/group", "group_cycle", "A group cannot contain itself: %s is in %s already.", outer.Name,
			strings.Join(way, ", which is in "),
		)
	}
	_, err = tx.Nest(models.GroupGroup{ParentID: outer.ID, ChildID: inner, CreatedAt: now})
	return err
}

// wayDown names the groups by which one contains another, from the inmost of them
// to the one itself; of several ways a shortest, nil where there is none.
func wayDown(tx *models.Tx, from models.UserGroup, to string) ([]string, error) {
	ways := map[string][]string{from.ID: {from.Name}}
	for level := []string{from.ID}; len(level) > 0; {
		var below []string
		for _, id := range level {
			children, err := tx.ChildrenOf(id)
			if err != nil {
				return nil, err
			}
			for _, child := range children {
				if child.ID == to {
					return ways[id], nil
				}
				if ways[child.ID] == nil {
					ways[child.ID] = append([]string{child.Name}, ways[id]...)
					below = append(below, child.ID)
				}
			}
		}
		level = below
	}
	return nil, nil
}

// Unnest takes a group out of another.
func (s *Service) Unnest(ctx context.Context, p access.Principal, outer, inner string) error {
	_, err := s.changeGroup(ctx, p, outer, func(tx *models.Tx, row *models.UserGroup, after *groupChange) error {
		was, err := tx.Unnest(row.ID, inner)
		if err == nil && !was {
			return access.NotFound()
		}
		after.Removed = []string{inner}
		return err
	})
	return err
}

// Replacement is a change of a group and of what is in it, all at once. Ids are of
// end users and groups.
type Replacement struct {
	GroupInput
	Clear       bool // everything that is in it leaves first
	Add, Remove []string
}

// ReplaceGroup carries out a Replacement as a whole or not at all, as a SCIM PATCH
// asks (RFC 7644, 3.5.2). Who is no member already is not missed.
func (s *Service) ReplaceGroup(
	ctx context.Context, p access.Principal, id, ifMatch string, in Replacement,
) (GroupDetail, error) {
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

// empty takes everything out of a group that is not to be in it again: who stays
// keeps their role.
func empty(tx *models.Tx, group string, stays []string) error {
	members, err := models.AllPages(func(page models.Page) (models.List[models.MemberRow], error) {
		return tx.MembersOfGroup(group, page)
	})
	if err != nil {
		return err
	}
	var leave []string
	for _, row := range members {
		if !slices.Contains(stays, row.UserID) {
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
		if slices.Contains(stays, child.ID) {
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

// put adds what is not in a group yet.
func put(tx *models.Tx, row models.UserGroup, ids []string, now time.Time) ([]string, error) {
	if len(ids) > maxMembers {
		return nil, fault.InvalidField("/members", "too_many", "Name at most %d members at once.", maxMembers)
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

// apart tells groups from end users by their ids, each once.
func apart(ids []string) (users, groups []string) {
	for _, id := range ids {
		switch {
		case slices.Contains(users, id), slices.Contains(groups, id):
		case strings.HasPrefix(id, "grp_"):
			groups = append(groups, id)
		default:
			users = append(users, id)
		}
	}
	return users, groups
}

// chunks keeps a statement's parameters below what the databases take.
func chunks(ids []string) [][]string { return slices.Collect(slices.Chunk(ids, 500)) }

// checkUsers refuses ids that are no end users of the tenant.
func checkUsers(tx *models.Tx, tenant string, ids []string) error {
	for _, chunk := range chunks(ids) {
		found, err := tx.EndUsersWithin(tenant, chunk)
		if err != nil {
			return err
		}
		for _, id := range chunk {
			if !slices.ContainsFunc(found, func(u models.EndUser) bool { return u.ID == id }) {
				return fault.InvalidField(
					"/members", "unknown_user", "%q is not the id of a user of the same tenant.", id,
				)
			}
		}
	}
	return nil
}
