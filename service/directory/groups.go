package directory

import (
	"cmp"
	"context"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// The roles in a group.
const (
	RoleMember = "member"
	RoleAdmin  = "admin"
)

// GroupInput has the fields of a group. A provisioning system sends an external id too.
type GroupInput struct {
	contract.GroupChange
	ExternalID *string
}

// Groups lists a tenant's groups by name.
func (s *Service) Groups(
	ctx context.Context, p access.Principal, in contract.GroupList,
) (models.List[contract.Group], error) {
	var none models.List[contract.Group]
	tx := s.DB.Read(ctx)
	at, err := findTenant(tx, p, in.Tenant, access.UserRead)
	if err != nil {
		return none, fmt.Errorf("directory: groups of %s: %w", in.Tenant, err)
	}
	rows, err := tx.UserGroupsOf(at.ID, models.PageOf(in.Page, in.Sort, in.Text))
	if err != nil {
		return none, fmt.Errorf("directory: groups of %s: %w", in.Tenant, err)
	}
	groups, err := viewGroups(tx, rows.Items)
	if err != nil {
		return none, fmt.Errorf("directory: groups of %s: %w", in.Tenant, err)
	}
	return models.List[contract.Group]{Items: groups, Next: rows.Next, Total: rows.Total}, nil
}

// GroupsFrom counts a tenant's groups and lists at most limit of them, oldest first,
// without the first skip. It is how SCIM pages.
func (s *Service) GroupsFrom(
	ctx context.Context, p access.Principal, tenant string, filter models.GroupFilter, skip, limit int,
) ([]contract.Group, int64, error) {
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

// Group finds a group, and the groups next to it in the hierarchy.
func (s *Service) Group(ctx context.Context, p access.Principal, in contract.GroupPath) (contract.Group, error) {
	tx := s.DB.Read(ctx)
	row, _, err := findGroup(tx, p, in.Group, access.UserRead)
	if err != nil {
		return contract.Group{}, fmt.Errorf("directory: group %s: %w", in.Group, err)
	}
	out, err := detail(tx, row)
	if err != nil {
		return out, fmt.Errorf("directory: group %s: %w", in.Group, err)
	}
	return out, nil
}

// GroupsOfUser lists the groups that an end user is in, by name.
func (s *Service) GroupsOfUser(ctx context.Context, p access.Principal, id string) ([]contract.UserGroup, error) {
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

func memberships(tx *models.Tx, user string) ([]contract.UserGroup, error) {
	direct, err := tx.GroupMembershipsOf(user)
	if err != nil {
		return nil, err
	}
	roles := map[string]*string{}
	for _, one := range direct {
		roles[one.GroupID] = &one.Role
	}
	groups, err := tx.GroupsOfUser(user)
	if err != nil {
		return nil, err
	}
	var list []contract.UserGroup
	for _, g := range groups {
		list = append(list, contract.UserGroup{ID: g.ID, Name: g.Name, DisplayName: titleOf(g), Role: roles[g.ID]})
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

func detail(tx *models.Tx, row models.UserGroup) (contract.Group, error) {
	list, err := viewGroups(tx, []models.UserGroup{row})
	if err != nil {
		return contract.Group{}, err
	}
	out := list[0]
	children, err := tx.ChildrenOf(row.ID)
	if err != nil {
		return out, err
	}
	parents, err := tx.ParentsOf(row.ID)
	out.Children, out.Parents = nestedGroups(children), nestedGroups(parents)
	return out, err
}

func nestedGroups(rows []models.UserGroup) (out []contract.NestedGroup) {
	for _, row := range rows {
		out = append(out, contract.NestedGroup{ID: row.ID, Name: row.Name, DisplayName: titleOf(row)})
	}
	return out
}

// viewGroups returns groups without those next to them.
func viewGroups(tx *models.Tx, rows []models.UserGroup) ([]contract.Group, error) {
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
	var list []contract.Group
	for _, row := range rows {
		list = append(list, contract.Group{
			GroupRecord: contract.GroupRecord{
				ID:          row.ID,
				Name:        row.Name,
				DisplayName: titleOf(row),
				ExternalID:  orEmpty(row.ExternalID),
				CreatedAt:   row.CreatedAt.UTC(),
				UpdatedAt:   row.UpdatedAt.UTC(),
			},
			Tenant:  row.TenantID,
			Members: counts[row.ID].Users,
			Owners:  counts[row.ID].Owners,
			ETag:    access.ETag(row.UpdatedAt),
		})
	}
	return list, nil
}

func titleOf(row models.UserGroup) string { return cmp.Or(row.DisplayName, row.Name) }
