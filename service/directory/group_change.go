package directory

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// CreateGroup creates a group.
func (s *Service) CreateGroup(
	ctx context.Context, p access.Principal, in contract.GroupCreation,
) (contract.Group, error) {
	input := GroupInput{GroupChange: contract.GroupChange{Name: &in.Body.Name, DisplayName: &in.Body.DisplayName}}
	return s.ProvisionGroup(ctx, p, in.Tenant, input, nil)
}

// ProvisionGroup creates a group with members. The ids are of users and groups. Without a name it gets one that is
// derived from its display name.
func (s *Service) ProvisionGroup(
	ctx context.Context, p access.Principal, tenant string, in GroupInput, members []string,
) (contract.Group, error) {
	var out contract.Group
	err := s.change(ctx, p, inTenant(p, tenant), func(tx *models.Tx, at place) (outcome, error) {
		now := models.Now()
		row := models.UserGroup{ID: models.NewID("grp"), TenantID: at.ID, CreatedAt: now, UpdatedAt: now}
		if err := nameGroup(tx, &row, in); err != nil {
			return outcome{}, err
		}
		if err := access.CheckQuota(tx, at.team, models.QuotaGroups); err != nil {
			return outcome{}, err
		}
		if err := groupTaken(tx.Insert(&row)); err != nil {
			return outcome{}, err
		}
		added, err := put(tx, row, members, now)
		if err != nil {
			return outcome{}, err
		}
		if out, err = detail(tx, row); err != nil {
			return outcome{}, err
		}
		after := groupChange{Added: added}
		after.describe(row)
		return outcome{
			object: row.ID,
			name:   row.Name,
			after:  after,
			revise: (*models.Tx).AddTenantRevisions,
			events: []event{groupEvent(row, groupCreated)},
		}, nil
	})
	if err != nil {
		return contract.Group{}, fmt.Errorf("directory: create a group of %s: %w", tenant, err)
	}
	return out, nil
}

// nameGroup applies the input to a new group, and derives a name from the display
// name if there is none.
func nameGroup(tx *models.Tx, row *models.UserGroup, in GroupInput) error {
	wrong := in.apply(row)
	switch {
	case in.Name != nil:
	case in.DisplayName == nil:
		wrong = append(wrong, fault.Field{
			Pointer: "/name",
			Code:    "required",
			Detail:  "Enter a name, such as admins.",
		})
	default:
		var err error
		if row.Name, err = freeName(tx, row.TenantID, *in.DisplayName); err != nil {
			return err
		}
	}
	return fault.InvalidFields(wrong)
}

// groupChange has the values that the audit entry of a group compares.
type groupChange struct {
	Name, DisplayName, ExternalID string
	Added, Removed                []string // ids of end users and groups, and names of app owners
}

func (c *groupChange) describe(row models.UserGroup) {
	c.Name, c.DisplayName, c.ExternalID = row.Name, row.DisplayName, orEmpty(row.ExternalID)
}

// freeName returns a name that is derived from a display name and not in use. The
// tenant is locked.
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

// UpdateGroup changes a group.
func (s *Service) UpdateGroup(
	ctx context.Context, p access.Principal, in contract.GroupUpdate,
) (contract.Group, error) {
	input := Replacement{GroupInput: GroupInput{GroupChange: in.Body}}
	return s.ReplaceGroup(ctx, p, in.Group, in.IfMatch, input)
}

// changeGroup applies fn to a group and writes the row. fn adds to the audit entry
// which members it added and removed.
func (s *Service) changeGroup(
	ctx context.Context, p access.Principal, id string,
	fn func(*models.Tx, *models.UserGroup, *groupChange) error,
) (contract.Group, error) {
	return s.changeGroupAt(ctx, p, ofGroup(p, id), id, fn)
}

// changeGroupAt is changeGroup with a function that finds the tenant and checks the permission.
func (s *Service) changeGroupAt(
	ctx context.Context, p access.Principal, find func(*models.Tx) (place, error), id string,
	fn func(*models.Tx, *models.UserGroup, *groupChange) error,
) (contract.Group, error) {
	var out contract.Group
	err := s.change(ctx, p, find, func(tx *models.Tx, _ place) (outcome, error) {
		row, err := tx.UserGroupByID(id)
		if err != nil {
			return outcome{}, absent(err)
		}
		var before, after groupChange
		before.describe(row)
		if err := fn(tx, &row, &after); err != nil {
			return outcome{}, err
		}
		row.UpdatedAt = models.Now()
		if err := groupTaken(tx.UpdateUserGroup(row)); err != nil {
			return outcome{}, err
		}
		after.describe(row)
		out, err = detail(tx, row)
		return outcome{
			object: id,
			name:   row.Name,
			before: before,
			after:  after,
			revise: (*models.Tx).AddPersonRevisions,
			events: groupEvents(before, after, row),
		}, err
	})
	if err != nil {
		return contract.Group{}, fmt.Errorf("directory: change the group %s: %w", id, err)
	}
	return out, nil
}

// DeleteGroup removes a group; its members and the groups in it stay.
func (s *Service) DeleteGroup(ctx context.Context, p access.Principal, in contract.GroupPath) (contract.None, error) {
	id := in.Group
	err := s.change(ctx, p, ofGroup(p, id), func(tx *models.Tx, _ place) (outcome, error) {
		row, err := tx.UserGroupByID(id)
		if err != nil {
			return outcome{}, absent(err)
		}
		var before groupChange
		before.describe(row)
		done := outcome{
			object: id,
			name:   row.Name,
			before: before,
			revise: (*models.Tx).AddPersonRevisions,
			events: []event{groupEvent(row, groupDeleted)},
		}
		return done, tx.DeleteUserGroup(id)
	})
	if err != nil {
		return contract.None{}, fmt.Errorf("directory: delete the group %s: %w", id, err)
	}
	return contract.None{}, nil
}

func (in GroupInput) apply(row *models.UserGroup) (wrong []fault.Field) {
	if in.Name != nil {
		if row.Name = *in.Name; !groupName.MatchString(row.Name) {
			wrong = append(wrong, fault.Field{
				Pointer: "/name",
				Code:    "invalid_name",
				Detail: "Use 1 to 63 lowercase letters, digits, dots, hyphens or underscores. Start with a letter or " +
					"digit.",
			})
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
		return takenField("/name", "name_taken", "The tenant already has a group with this name.",
			"Choose another name.")
	}
	return err
}

// maxNamed bounds the groups that one request names.
const maxNamed = 1000

// groupsNamed returns the IDs of groups of a tenant that were given by ID or name, each once, and a field error for
// each that the tenant doesn't have. An ID wins over an equal name.
func groupsNamed(tx *models.Tx, tenant string, given []string) (ids []string, wrong []fault.Field, err error) {
	ids = []string{}
	switch {
	case len(given) == 0:
		return ids, nil, nil
	case len(given) > maxNamed:
		return nil, []fault.Field{{
			Pointer: "/groups",
			Code:    "too_many_groups",
			Detail:  fmt.Sprintf("Use at most %s groups.", humanize.Comma(maxNamed)),
		}}, nil
	}
	found, err := tx.GroupsNamed(tenant, given)
	if err != nil {
		return nil, nil, err
	}
	for i, idOrName := range given {
		at := slices.IndexFunc(found, func(g models.UserGroup) bool { return g.ID == idOrName })
		if at < 0 {
			at = slices.IndexFunc(found, func(g models.UserGroup) bool { return g.Name == idOrName })
		}
		if at < 0 {
			wrong = append(wrong, fault.Field{
				Pointer: fmt.Sprintf("/groups/%d", i),
				Code:    "unknown_group",
				Detail:  "The tenant has no group with this ID or name.",
			})
		} else if !slices.Contains(ids, found[at].ID) {
			ids = append(ids, found[at].ID)
		}
	}
	return ids, wrong, nil
}
