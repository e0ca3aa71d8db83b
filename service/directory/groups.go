package directory

import (
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// The roles in a group.
const (
	RoleMember = "member"
	RoleAdmin  = "admin"
)

// Group is a group of a tenant's users. Rules and headers use its name; the display
// name may change without any effect on them.
type Group struct {
	ID          string
	Tenant      string `audit:"-"` // id
	Name        string
	DisplayName string
	ExternalID  string
	Members     int64     `audit:"-"` // in it directly
	ETag        string    `audit:"-"`
	CreatedAt   time.Time `audit:"-"`
	UpdatedAt   time.Time `audit:"-"`
}

// GroupDetail is a group with the groups next to it in the hierarchy.
type GroupDetail struct {
	Group
	Children []Group // nested in it directly
	Parents  []Group // that it is nested in directly
}

// Member is an end user in a group.
type Member struct {
	User, Email, Name, State string
	Role                     string
	Since                    time.Time
}

// GroupInput is what a group can have; nil leaves a field as it is.
type GroupInput struct{ Name, DisplayName, ExternalID *string }

// Groups lists a tenant's groups by name.
func (s *Service) Groups(
	ctx context.Context, p access.Principal, tenant string, page models.Page,
) (models.List[Group], error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, tenant, access.UserRead)
	if err != nil {
		return models.List[Group]{}, fmt.Errorf("directory: groups of %s: %w", tenant, err)
	}
	rows, err := tx.UserGroupsOf(at.ID, page)
	if err != nil {
		return models.List[Group]{}, fmt.Errorf("directory: groups of %s: %w", tenant, err)
	}
	groups, err := viewGroups(tx, rows.Items)
	if err != nil {
		return models.List[Group]{}, fmt.Errorf("directory: groups of %s: %w", tenant, err)
	}
	return models.List[Group]{Items: groups, Next: rows.Next, Total: rows.Total}, nil
}

// GroupsFrom counts a tenant's groups and lists at most limit of them, oldest first,
// without the first skip. It is how SCIM pages.
func (s *Service) GroupsFrom(
	ctx context.Context, p access.Principal, tenant string, filter models.GroupFilter, skip, limit int,
) ([]Group, int64, error) {
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, tenant, access.UserRead)
	if err != nil {
		return nil, 0, fmt.Errorf("directory: groups of %s: %w", tenant, err)
	}
	rows, total, err := tx.UserGroupsFrom(at.ID, filter, skip, min(limit, models.MaxLimit))
	if err != nil {
		return nil, 0, fmt.Errorf("directory: groups of %s: %w", tenant, err)
	}
	list, err := viewGroups(tx, rows)
	return list, total, err
}

// Group finds a group.
func (s *Service) Group(ctx context.Context, p access.Principal, id string) (GroupDetail, error) {
	tx := s.DB.Read(ctx)
	row, _, err := findGroup(tx, p, id, access.UserRead)
	if err != nil {
		return GroupDetail{}, fmt.Errorf("directory: group %s: %w", id, err)
	}
	out, err := detail(tx, row)
	if err != nil {
		return out, fmt.Errorf("directory: group %s: %w", id, err)
	}
	return out, nil
}

// GroupsOfUser lists the groups that an end user is in, by name.
func (s *Service) GroupsOfUser(ctx context.Context, p access.Principal, id string) ([]Membership, error) {
	tx := s.DB.Read(ctx)
	if _, _, err := findUser(tx, p, id, access.UserRead); err != nil {
		return nil, fmt.Errorf("directory: groups of %s: %w", id, err)
	}
	list, err := memberships(tx, id)
	if err != nil {
		return nil, fmt.Errorf("directory: groups of %s: %w", id, err)
	}
	return list, nil
}

func memberships(tx *models.Tx, user string) ([]Membership, error) {
	direct, err := tx.GroupMembershipsOf(user)
	if err != nil {
		return nil, err
	}
	roles := map[string]string{}
	for _, one := range direct {
		roles[one.GroupID] = one.Role
	}
	groups, err := tx.GroupsOfUser(user)
	if err != nil {
		return nil, err
	}
	var list []Membership
	for _, g := range groups {
		list = append(list, Membership{Group: g.ID, Name: g.Name, DisplayName: titleOf(g), Role: roles[g.ID]})
	}
	return list, nil
}

func findGroup(tx *models.Tx, p access.Principal, id string, action access.Action) (models.UserGroup, place, error) {
	if p.Anonymous() {
		return models.UserGroup{}, place{}, access.Check(p, "", action)
	}
	row, err := tx.UserGroupByID(id)
	if err != nil {
		return row, place{}, absent(err)
	}
	at, err := findTenant(tx, p, row.TenantID, action)
	return row, at, err
}

func detail(tx *models.Tx, row models.UserGroup) (GroupDetail, error) {
	list, err := viewGroups(tx, []models.UserGroup{row})
	if err != nil {
		return GroupDetail{}, err
	}
	out := GroupDetail{Group: list[0]}
	children, err := tx.ChildrenOf(row.ID)
	if err != nil {
		return out, err
	}
	if out.Children, err = viewGroups(tx, children); err != nil {
		return out, err
	}
	parents, err := tx.ParentsOf(row.ID)
	if err != nil {
		return out, err
	}
	out.Parents, err = viewGroups(tx, parents)
	return out, err
}

func viewGroups(tx *models.Tx, rows []models.UserGroup) ([]Group, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.ID)
	}
	counts, err := tx.CountMembers(ids)
	if err != nil {
		return nil, err
	}
	var list []Group
	for _, row := range rows {
		g := viewGroup(row)
		g.Members = counts[row.ID]
		list = append(list, g)
	}
	return list, nil
}

func viewGroup(row models.UserGroup) Group {
	return Group{
		ID:          row.ID,
		Tenant:      row.TenantID,
		Name:        row.Name,
		DisplayName: titleOf(row),
		ExternalID:  orEmpty(row.ExternalID),
		ETag:        access.ETag(row.UpdatedAt),
		CreatedAt:   row.CreatedAt,
		UpdatedAt:   row.UpdatedAt,
	}
}

func titleOf(row models.UserGroup) string {
	if row.DisplayName == "" {
		return row.Name
	}
	return row.DisplayName
}
