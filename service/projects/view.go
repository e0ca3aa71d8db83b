package projects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/keys"
)

// view returns what a caller sees of a project.
func view(tx *models.Tx, row models.Project) (Project, error) {
	list, err := viewAll(tx, []models.Project{row})
	if err != nil {
		return Project{}, err
	}
	return list[0], nil
}

// viewAll is view for several projects, with as many queries as for one.
func viewAll(tx *models.Tx, rows []models.Project) ([]Project, error) {
	around, err := surroundingsOf(tx, rows)
	if err != nil {
		return nil, err
	}
	out := make([]Project, 0, len(rows))
	for _, row := range rows {
		project, err := around.view(tx, row)
		if err != nil {
			return nil, err
		}
		out = append(out, project)
	}
	return out, nil
}

// surroundings are the rows around projects.
type surroundings struct {
	teams        map[string]models.Team
	versions     map[string][]models.Version     // by project
	environments map[string][]models.Environment // by version
	documents    map[string][]byte               // sums of OpenAPI documents, by version
	keyTypes     map[string][]models.KeyType     // by project
	tenants      map[string][]models.Tenant      // by project
	products     map[string]string               // names
}

func surroundingsOf(tx *models.Tx, rows []models.Project) (out surroundings, err error) {
	var ids, teams, products []string
	for _, row := range rows {
		ids, teams = append(ids, row.ID), append(teams, row.TeamID)
		if row.ProductID != nil {
			products = append(products, *row.ProductID)
		}
	}
	versions, err := tx.VersionsOf(ids...)
	if err != nil {
		return out, err
	}
	environments, err := tx.EnvironmentsOf(ids...)
	if err != nil {
		return out, err
	}
	keyTypes, err := tx.KeyTypesOf(ids...)
	if err != nil {
		return out, err
	}
	out.versions = groupBy(versions, func(row models.Version) string { return row.ProjectID })
	out.environments = groupBy(environments, func(row models.Environment) string { return row.VersionID })
	out.keyTypes = groupBy(keyTypes, func(row models.KeyType) string { return row.ProjectID })
	owners, err := tx.TeamsByID(teams)
	if err != nil {
		return out, err
	}
	out.teams = map[string]models.Team{}
	for _, team := range owners {
		out.teams[team.ID] = team
	}
	if out.documents, err = tx.OpenAPISums(ids...); err != nil {
		return out, err
	}
	if out.tenants, err = tx.TenantsOfProjects(ids); err != nil || len(products) == 0 {
		return out, err
	}
	out.products, err = tx.ProductNames(products)
	return out, err
}

func groupBy[T any](rows []T, key func(T) string) map[string][]T {
	out := map[string][]T{}
	for _, row := range rows {
		out[key(row)] = append(out[key(row)], row)
	}
	return out
}

func (s surroundings) view(tx *models.Tx, row models.Project) (Project, error) {
	out := Project{
		ID:            row.ID,
		Team:          row.TeamID,
		Name:          row.Name,
		DisplayName:   row.DisplayName,
		FallbackOwner: row.FallbackOwner,
		Limits:        row.Limits,
		API:           viewAPI(row),
		SettingsETag:  access.ETag(row.UpdatedAt),
		CreatedAt:     row.CreatedAt,
	}
	var err error
	if out.CORS, err = viewCORS(tx, row); err != nil {
		return out, err
	}
	if row.FrozenAt != nil {
		out.Frozen = &Frozen{Reason: row.FrozenReason, Since: *row.FrozenAt}
	}
	if row.DeletedAt != nil && row.PurgeAt != nil {
		out.Deleted = &Deleted{Since: *row.DeletedAt, PurgeAt: *row.PurgeAt}
	}
	if team := s.teams[row.TeamID]; team.ClaimedAt == nil {
		out.ExpiresAt = team.ExpiresAt
	}
	changed := row.UpdatedAt
	for _, v := range s.versions[row.ID] {
		environments := s.environments[v.ID]
		version := viewVersion(row.Name, v, environments)
		version.OpenAPI = hex.EncodeToString(s.documents[v.ID])
		out.Versions = append(out.Versions, version)
		changed = later(changed, v.UpdatedAt)
		for _, e := range environments {
			changed = later(changed, e.UpdatedAt)
		}
	}
	for _, t := range s.keyTypes[row.ID] {
		out.KeyTypes = append(out.KeyTypes, viewKeyType(t))
	}
	for _, t := range s.tenants[row.ID] {
		out.Tenants = append(out.Tenants, t.Name)
	}
	if row.ProductID != nil {
		out.Product = s.products[*row.ProductID]
	}
	out.ETag = access.ETag(changed) + "-" + digest(out.KeyTypes, out.Tenants)
	return out, nil
}

// digest returns a hash of values without a time of their last change, for an ETag.
func digest(state ...any) string {
	sum := sha256.Sum256(fmt.Append(nil, state...))
	return hex.EncodeToString(sum[:8])
}

// digestOf is digest of a value by its JSON, which has what its pointers point to.
func digestOf(value any) string {
	text, _ := json.Marshal(value) // values of the contract always have JSON
	return digest(string(text))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func viewVersion(project string, v models.Version, environments []models.Environment) Version {
	out := Version{
		ID:          v.ID,
		Project:     project,
		Name:        v.Name,
		Mode:        v.AuthMode,
		Methods:     v.AuthMethods,
		Keyless:     v.Keyless,
		IPAllow:     keys.Texts(v.IPAllow),
		IPDeny:      keys.Texts(v.IPDeny),
		Rules:       compileRules(v.Rules),
		Transforms:  snapshot.TransformsOf(v.Transforms),
		Validation:  v.OpenAPISettings.Validation,
		Publication: v.OpenAPISettings.Publication,
		Issuers:     v.TokenIssuers,
		ETag:        access.ETag(v.UpdatedAt),
	}
	if v.Introspection.Endpoint != "" {
		opaque := introspectionOf(v)
		out.Opaque = &opaque
	}
	for _, e := range environments {
		if e.VersionID == v.ID {
			out.Environments = append(out.Environments, viewEnvironment(project, v.Name, e))
		}
	}
	return out
}

func viewEnvironment(project, version string, e models.Environment) Environment {
	return Environment{
		ID:      e.ID,
		Project: project,
		Version: version,
		Name:    e.Name,
		Target:  e.Target,
		ETag:    access.ETag(e.UpdatedAt),
	}
}
