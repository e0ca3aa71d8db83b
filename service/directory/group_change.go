package directory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// CreateGroup makes a group. Without a name it gets one that follows from its
// display name.
func (s *Service) CreateGroup(
	ctx context.Context, p access.Principal, tenant string, in GroupInput,
) (GroupDetail, error) {
	return s.CreateGroupWith(ctx, p, tenant, in, nil)
}

// CreateGroupWith makes a group with members and groups in it, which are ids.
func (s *Service) CreateGroupWith(
	ctx context.Context, p access.Principal, tenant string, in GroupInput, members []string,
) (GroupDetail, error) {
	var out GroupDetail
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		at, err := findTenant(tx, p, tenant, access.UserUpdate)
		if err != nil {
			return err
		}
		if _, err := tx.LockTenant(at.ID); err != nil {
			return err
		}
		now := models.Now()
		row := models.UserGroup{ID: models.NewID("grp"), TenantID: at.ID, CreatedAt: now, UpdatedAt: now}
		wrong := in.apply(&row)
		if in.Name == nil && in.DisplayName != nil {
			if row.Name, err = freeName(tx, at.ID, *in.DisplayName); err != nil {
				return err
			}
		} else if in.Name == nil {
			wrong = append(wrong, fault.Field{Pointer: "/name", Code: "required", Detail: "Name the group, such as admins."})
		}
		if err := fault.InvalidFields(wrong); err != nil {
			return err
		}
		if err := groupTaken(tx.Insert(&row)); err != nil {
			return err
		}
		after := changedGroup{}
		after.tell(row)
		if after.Added, err = s.put(tx, row, members, now); err != nil {
			return err
		}
		if out, err = detail(tx, row); err != nil {
			return err
		}
		if err := record(tx, p, at, row.ID, nil, after); err != nil {
			return err
		}
		return tx.AddTenantRevisions(at.Tenant, models.Now())
	})
	if err != nil {
		return GroupDetail{}, fmt.Errorf("directory: create a group of %s: %w", tenant, err)
	}
	s.Changed(ctx)
	return out, nil
}

// changedGroup is what an audit entry compares.
type changedGroup struct {
	Name, DisplayName, ExternalID string
	Added, Removed                []string // ids of end users and groups
}

func (c *changedGroup) tell(row models.UserGroup) {
	c.Name, c.DisplayName, c.ExternalID = row.Name, row.DisplayName, orEmpty(row.ExternalID)
}

// freeName is a name that follows from a display name and is not taken. The tenant
// is locked.
func freeName(tx *models.Tx, tenant, display string) (string, error) {
	base := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, strings.ToLower(display)), "-._")
	if base = base[:min(len(base), 50)]; base == "" {
		base = "group"
	}
	for i := 1; ; i++ {
		name := base
		if i > 1 {
			name = fmt.Sprintf("%s-%d", base, i)
		}
		found, _, err := tx.UserGroupsFrom(tenant, models.GroupFilter{Name: name}, 0, 1)
		if err != nil || len(found) == 0 {
			return name, err
		}
	}
}

// UpdateGroup changes a group. With ifMatch not empty it is refused as stale unless
// that is still its ETag.
func (s *Service) UpdateGroup(
	ctx context.Context, p access.Principal, id, ifMatch string, in GroupInput,
) (GroupDetail, error) {
	return s.changeGroup(ctx, p, id, func(_ *models.Tx, row *models.UserGroup, _ *changedGroup) error {
		if err := access.Unchanged(ifMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		return fault.InvalidFields(in.apply(row))
	})
}

// changeGroup runs change on a group whose tenant is locked, so that of two who nest
// groups the second sees what the first did, and writes what came of it.
func (s *Service) changeGroup(
	ctx context.Context, p access.Principal, id string,
	change func(*models.Tx, *models.UserGroup, *changedGroup) error,
) (GroupDetail, error) {
	var out GroupDetail
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		_, at, err := findGroup(tx, p, id, access.UserUpdate)
		if err != nil {
			return err
		}
		if _, err := tx.LockTenant(at.ID); err != nil {
			return err
		}
		row, err := tx.UserGroupByID(id) // as it is now that others have to wait
		if err != nil {
			return absent(err)
		}
		before, after := changedGroup{}, changedGroup{}
		before.tell(row)
		if err := change(tx, &row, &after); err != nil {
			return err
		}
		row.UpdatedAt = models.Now()
		if err := groupTaken(tx.UpdateUserGroup(row)); err != nil {
			return err
		}
		after.tell(row)
		if out, err = detail(tx, row); err != nil {
			return err
		}
		if err := record(tx, p, at, id, before, after); err != nil {
			return err
		}
		return tx.AddTenantRevisions(at.Tenant, models.Now())
	})
	if err != nil {
		return GroupDetail{}, fmt.Errorf("directory: change the group %s: %w", id, err)
	}
	s.Changed(ctx)
	return out, nil
}

// DeleteGroup removes a group; its members and the groups in it stay.
func (s *Service) DeleteGroup(ctx context.Context, p access.Principal, id string) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		row, at, err := findGroup(tx, p, id, access.UserUpdate)
		if err != nil {
			return err
		}
		if _, err := tx.LockTenant(at.ID); err != nil {
			return err
		}
		if err := tx.DeleteUserGroup(id); err != nil {
			return err
		}
		if err := record(tx, p, at, id, viewGroup(row), nil); err != nil {
			return err
		}
		return tx.AddTenantRevisions(at.Tenant, models.Now())
	})
	if err != nil {
		return fmt.Errorf("directory: delete the group %s: %w", id, err)
	}
	s.Changed(ctx)
	return nil
}

func (in GroupInput) apply(row *models.UserGroup) (wrong []fault.Field) {
	if in.Name != nil {
		if row.Name = *in.Name; !groupName.MatchString(row.Name) {
			wrong = append(wrong, fault.Field{Pointer: "/name", Code: "invalid_name",
				Detail: "Use 1 to 63 lower-case letters, digits, dots, dashes and underscores, the first a letter or digit."})
		}
	}
	if in.DisplayName != nil {
		row.DisplayName = strings.TrimSpace(*in.DisplayName)
		wrong = append(wrong, checkText("/display_name", *in.DisplayName)...)
	}
	if in.ExternalID != nil {
		row.ExternalID = orNil(*in.ExternalID)
		wrong = append(wrong, checkText("/external_id", *in.ExternalID)...)
	}
	return wrong
}

func groupTaken(err error) error {
	if errors.Is(err, models.ErrDuplicate) {
		return takenField("/name", "name_taken", "The tenant has a group of this name already.", "Choose another name.")
	}
	return err
}

// checkGroups points at ids that are no groups of the tenant.
func checkGroups(tx *models.Tx, tenant string, ids []string) ([]fault.Field, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := tx.GroupsWithin(tenant, ids)
	if err != nil {
		return nil, err
	}
	var wrong []fault.Field
	for i, id := range ids {
		if !slices.ContainsFunc(found, func(g models.UserGroup) bool { return g.ID == id }) {
			wrong = append(
				wrong,
				fault.Field{
					Pointer: fmt.Sprintf("/groups/%d", i),
					Code:    "unknown_group",
					Detail:  "This is not the id of a group of the tenant.",
				},
			)
		}
	}
	return wrong, nil
}
