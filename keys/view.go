package keys

import (
	"time"

	"postern/models"
	"postern/policy"
	"postern/snapshot"
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
	return namesIn(tx, project, []string{projectID})
}

// namesIn resolves the ids in keys of several projects of one team. A key may be
// of a tenant that its project no longer serves.
func namesIn(tx *models.Tx, project models.Project, projectIDs []string) (names, error) {
	n := names{types: map[string]models.KeyType{}, tenants: map[string]string{}}
	types, err := tx.KeyTypesOf(projectIDs...)
	if err != nil {
		return n, err
	}
	for _, t := range types {
		n.types[t.ID] = t
	}
	tenants, err := tx.TenantsWithin(project.TeamID, projectIDs)
	for _, t := range tenants {
		n.tenants[t.ID] = t.Name
	}
	return n, err
}

func view(tx *models.Tx, row models.APIKey) (Key, error) {
	n, err := namesOf(tx, row.ProjectID)
	return n.view(row), err
}

func (n names) view(row models.APIKey) Key {
	keyType := n.types[row.KeyTypeID]
	now := models.Now()
	k := Key{
		ID: row.ID, Project: row.ProjectID, Owner: row.Owner, KeyType: keyType.Name, Scopes: keyType.Scopes,
		Tenant: n.tenants[row.TenantID], Environment: row.Environment, Description: row.Description,
		State: stateOf(&row, now), Prefix: row.Prefix, Last4: row.Last4, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt,
		LastUsedAt: row.LastUsedAt,
	}
	if row.GraceEndsAt != nil && row.GraceEndsAt.After(now) {
		k.GraceEndsAt = row.GraceEndsAt
	}
	return k
}

func expired(row *models.APIKey, now time.Time) bool {
	return row.ExpiresAt != nil && !row.ExpiresAt.After(now)
}

// stateOf is the state that callers see: the stored one, or expired where the
// clock has ended an active or frozen key.
func stateOf(row *models.APIKey, now time.Time) string {
	if row.State != string(snapshot.KeyRevoked) && expired(row, now) {
		return Expired
	}
	return row.State
}

// snapshotOf is the row as gateways and exports see it.
func (n names) snapshotOf(row *models.APIKey) snapshot.Key {
	keyType := n.types[row.KeyTypeID]
	k := snapshot.Key{
		ID: row.ID, ProjectID: row.ProjectID, Owner: row.Owner, KeyType: keyType.Name, Scopes: keyType.Scopes,
		TenantID: row.TenantID, Tenant: n.tenants[row.TenantID], Environment: row.Environment, Description: row.Description,
		State: snapshot.KeyState(row.State), Limits: optionalLimits(row.Limits), AllowedIPs: row.AllowedCIDRs,
		Hash: [32]byte(row.Hash), CreatedAt: row.CreatedAt.UTC(), Prefix: row.Prefix, Last4: row.Last4,
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

// Scan calls fn with every key of the project and of its product, as it is seen
// from there, ordered by id, one at a time. A key of a product whose type has no
// name that the project knows is not seen from there.
func Scan(tx *models.Tx, project *snapshot.Project, fn func(snapshot.Key) error) error {
	row, err := tx.ProjectByID(project.ID)
	if err != nil {
		return err
	}
	ids := []string{row.ID}
	if row.ProductID != nil {
		others, err := tx.ProjectsOfProduct(*row.ProductID)
		if err != nil {
			return err
		}
		for _, other := range others {
			ids = append(ids, other.ID)
		}
	}
	n, err := namesIn(tx, row, ids)
	if err != nil {
		return err
	}
	realm := policy.NewRealm(project)
	return tx.ScanKeysOpening(row.ID, row.ProductID, func(row *models.APIKey) error {
		k := n.snapshotOf(row)
		if !realm.Here(&k) {
			return nil
		}
		return fn(k)
	})
}
