package keys

import (
	"maps"
	"slices"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
)

// names resolves the ids in a key's row.
type names struct {
	types   map[string]models.KeyType
	tenants map[string]string
}

func namesOf(tx *models.Tx, projectID string) (names, error) {
	project, err := tx.ProjectByID(projectID)
	if err != nil {
		return names{}, err
	}
	return namesIn(tx, []string{project.TeamID}, []string{projectID})
}

// namesIn resolves the ids in keys of several projects of some teams. A key may be
// of a tenant that its project no longer serves.
func namesIn(tx *models.Tx, teamIDs, projectIDs []string) (names, error) {
	n := names{types: map[string]models.KeyType{}, tenants: map[string]string{}}
	types, err := tx.KeyTypesOf(projectIDs...)
	if err != nil {
		return n, err
	}
	for _, t := range types {
		n.types[t.ID] = t
	}
	tenants, err := tx.TenantsWithin(teamIDs, projectIDs)
	if err != nil {
		return n, err
	}
	for _, t := range tenants {
		n.tenants[t.ID] = t.Name
	}
	return n, nil
}

// namesOfRows resolves the ids in keys of any projects, with at most two queries.
func namesOfRows(tx *models.Tx, rows []models.APIKey) (names, error) {
	n := names{types: map[string]models.KeyType{}, tenants: map[string]string{}}
	if len(rows) == 0 {
		return n, nil
	}
	for _, row := range rows {
		n.types[row.KeyTypeID] = models.KeyType{}
		n.tenants[row.TenantID] = ""
	}
	types, err := tx.KeyTypesByID(slices.Collect(maps.Keys(n.types)))
	if err != nil {
		return n, err
	}
	for _, t := range types {
		n.types[t.ID] = t
	}
	tenants, err := tx.TenantsByID(slices.Collect(maps.Keys(n.tenants)))
	if err != nil {
		return n, err
	}
	for _, t := range tenants {
		n.tenants[t.ID] = t.Name
	}
	return n, nil
}

// labels are names and what else people are shown of keys.
type labels struct {
	names
	products map[string]string
	limits   map[string]models.Limits // that a project states for each key
}

// labelsOf resolves the ids in the rows, all of one team.
func labelsOf(tx *models.Tx, teamID string, rows ...models.APIKey) (labels, error) {
	var homes []string
	for _, row := range rows {
		if !slices.Contains(homes, row.ProjectID) {
			homes = append(homes, row.ProjectID)
		}
	}
	projects, err := tx.ProjectsByID(homes)
	if err != nil {
		return labels{}, err
	}
	return labelsIn(tx, teamID, projects)
}

// labelsIn resolves the ids in keys that were created in the projects, all of one team.
func labelsIn(tx *models.Tx, teamID string, projects []models.Project) (l labels, err error) {
	l = labels{products: map[string]string{}, limits: map[string]models.Limits{}}
	var ids []string
	for _, project := range projects {
		ids = append(ids, project.ID)
		l.limits[project.ID] = project.Limits.Key
	}
	products, err := tx.ProductsOfTeam(teamID)
	if err != nil {
		return l, err
	}
	for _, product := range products {
		l.products[product.ID] = product.Name
	}
	l.names, err = namesIn(tx, []string{teamID}, ids)
	return l, err
}

// view is a key of the project that it was created in.
func view(tx *models.Tx, home models.Project, row models.APIKey) (contract.Key, error) {
	l, err := labelsIn(tx, home.TeamID, []models.Project{home})
	if err != nil {
		return contract.Key{}, err
	}
	return l.view(row), nil
}

func (l labels) view(row models.APIKey) contract.Key {
	keyType := l.types[row.KeyTypeID]
	now := models.Now()
	k := contract.Key{
		KeyRecord: contract.KeyRecord{
			ID:           row.ID,
			Owner:        row.Owner,
			KeyType:      keyType.Name,
			Scopes:       keyType.Scopes,
			Tenant:       l.tenants[row.TenantID],
			Environment:  contract.OrNull(row.Environment),
			State:        stateOf(&row, now),
			Limits:       row.Limits,
			AllowedCIDRs: Texts(row.AllowedCIDRs),
			ExpiresAt:    contract.UTC(row.ExpiresAt),
			KeyDetails:   detailsOf(&row),
			KeyIdentity:  row.KeyIdentity,
		},
		Project:    row.ProjectID,
		ETag:       access.ETag(row.UpdatedAt),
		LastUsedAt: contract.UTC(row.LastUsedAt),
	}
	effective, from := l.limitsOf(row)
	k.EffectiveLimits, k.LimitsFrom = effective, from
	if row.ProductID != nil {
		k.Product = contract.OrNull(l.products[*row.ProductID])
	}
	if row.GraceEndsAt != nil && row.GraceEndsAt.After(now) {
		k.GraceEndsAt = contract.UTC(row.GraceEndsAt)
	}
	return k
}

func detailsOf(row *models.APIKey) contract.KeyDetails {
	details := row.KeyDetails
	details.CreatedAt = details.CreatedAt.UTC()
	return details
}

// limitsOf are the limits that policy.Realm.KeyLimits finds in the key's own
// project, and where.
func (l labels) limitsOf(row models.APIKey) (models.Limits, string) {
	switch ofType, ofProject := l.types[row.KeyTypeID].Limits, l.limits[row.ProjectID]; {
	case row.Limits != nil:
		return *row.Limits, contract.LimitsOfKey
	case len(ofType) > 0:
		return ofType, contract.LimitsOfType
	case len(ofProject) > 0:
		return ofProject, contract.LimitsOfProject
	}
	return nil, contract.LimitsOfNothing
}

func expired(row *models.APIKey, now time.Time) bool {
	return row.ExpiresAt != nil && !row.ExpiresAt.After(now)
}

// stateOf is the state that callers see: the stored one, or expired where the
// clock has ended an active or frozen key.
func stateOf(row *models.APIKey, now time.Time) string {
	if row.State != string(snapshot.KeyRevoked) && expired(row, now) {
		return contract.KeyExpired
	}
	return row.State
}

// snapshotOf is the row as gateways and exports see it.
func (n names) snapshotOf(row *models.APIKey) snapshot.Key {
	keyType := n.types[row.KeyTypeID]
	k := snapshot.Key{
		ID:          row.ID,
		ProjectID:   row.ProjectID,
		Owner:       row.Owner,
		KeyType:     keyType.Name,
		Scopes:      keyType.Scopes,
		TenantID:    row.TenantID,
		Tenant:      n.tenants[row.TenantID],
		Environment: row.Environment,
		State:       snapshot.KeyState(row.State),
		Limits:      optionalLimits(row.Limits),
		AllowedIPs:  row.AllowedCIDRs,
		Hash:        [32]byte(row.Hash),
		KeyDetails:  detailsOf(row),
		KeyIdentity: row.KeyIdentity,
	}
	if row.ProductID != nil {
		k.ProductID = *row.ProductID
	}
	if row.ExpiresAt != nil {
		k.ExpiresAt = row.ExpiresAt.UTC()
	}
	if row.OldHash != nil && row.GraceEndsAt != nil {
		old := [32]byte(row.OldHash)
		k.OldHash, k.GraceEndsAt = &old, row.GraceEndsAt.UTC()
	}
	return k
}

// Scan calls fn with each key that is valid for the project, including its product's keys, in the order of their IDs.
// It leaves out a product's key if its key type doesn't exist in the project.
func Scan(tx *models.Tx, project *snapshot.Project, fn func(snapshot.Key) error) error {
	return scan(tx, project, nil, fn, func(row models.Project, pass func(*models.APIKey) error) error {
		return tx.ScanKeysOf(row.ID, row.ProductID, pass)
	})
}

// ScanTenant is Scan for the keys of one of the project's tenants.
func ScanTenant(tx *models.Tx, project *snapshot.Project, of snapshot.Tenant, fn func(snapshot.Key) error) error {
	return scan(tx, project, &of, fn, func(row models.Project, pass func(*models.APIKey) error) error {
		return tx.ScanKeysOfTenant(row.ID, row.ProductID, of.ID, of.Name == snapshot.DefaultTenant, pass)
	})
}

// ScanRows is Scan for the keys that read passes on.
func ScanRows(
	tx *models.Tx, project *snapshot.Project, fn func(snapshot.Key) error,
	read func(pass func(*models.APIKey) error) error,
) error {
	return scan(tx, project, nil, fn, func(_ models.Project, pass func(*models.APIKey) error) error {
		return read(pass)
	})
}

// scan calls fn with the keys that read passes on and that open the project, those of one tenant if of is not nil.
func scan(
	tx *models.Tx, project *snapshot.Project, of *snapshot.Tenant, fn func(snapshot.Key) error,
	read func(row models.Project, pass func(*models.APIKey) error) error,
) error {
	row, err := tx.ProjectByID(project.ID)
	if err != nil {
		return err
	}
	ids := []string{row.ID}
	if row.ProductID != nil {
		homes, err := tx.HomesOfProductKeys(*row.ProductID)
		if err != nil {
			return err
		}
		ids = append(ids, homes...)
	}
	n, err := namesIn(tx, []string{row.TeamID}, ids)
	if err != nil {
		return err
	}
	realm := policy.NewRealm(project)
	return read(row, func(row *models.APIKey) error {
		k := n.snapshotOf(row)
		as, granted := realm.Grant(&k)
		if !granted || (of != nil && as.TenantID != of.ID) {
			return nil
		}
		k.ProjectID, k.Scopes, k.TenantID = project.ID, as.Scopes, as.TenantID
		return fn(k)
	})
}
