package projects

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/access"
	"postern/service/keys"
	"postern/service/serving"
)

// view returns a project with what has its own operations.
func (s *Service) view(tx *models.Tx, row models.Project) (out Project, err error) {
	around, err := s.surroundingsOf(tx, []models.Project{row})
	if err != nil {
		return out, err
	}
	documents, err := tx.OpenAPISums(row.ID)
	if err != nil {
		return out, err
	}
	out.Project, out.API = around.shown(row), viewAPI(row)
	if out.CORS, err = viewCORS(tx, row); err != nil {
		return out, err
	}
	for i, v := range around.versions[row.ID] {
		out.Versions = append(out.Versions, Version{
			Version:     out.Project.Versions[i],
			Rules:       serving.Rules(v.Rules),
			Transforms:  snapshot.TransformsOf(v.Transforms),
			Validation:  v.OpenAPISettings.Validation,
			Publication: v.OpenAPISettings.Publication,
			OpenAPI:     hex.EncodeToString(documents[v.ID]),
		})
	}
	return out, nil
}

// surroundings are the rows around projects.
type surroundings struct {
	teams        map[string]models.Team
	versions     map[string][]models.Version     // by project
	environments map[string][]models.Environment // by version
	keyTypes     map[string][]models.KeyType     // by project
	tenants      map[string][]models.Tenant      // by project
	products     map[string]string               // names
	addresses    Addresses
}

// surroundingsOf reads them, with as many queries for several projects as for one.
func (s *Service) surroundingsOf(tx *models.Tx, rows []models.Project) (out surroundings, err error) {
	out.addresses = s.Addresses
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
	out.versions = models.GroupBy(versions, func(row models.Version) string { return row.ProjectID })
	out.environments = models.GroupBy(environments, func(row models.Environment) string { return row.VersionID })
	out.keyTypes = models.GroupBy(keyTypes, func(row models.KeyType) string { return row.ProjectID })
	owners, err := tx.TeamsByID(teams)
	if err != nil {
		return out, err
	}
	out.teams = map[string]models.Team{}
	for _, team := range owners {
		out.teams[team.ID] = team
	}
	if out.tenants, err = tx.TenantsOfProjects(ids); err != nil || len(products) == 0 {
		return out, err
	}
	out.products, err = tx.ProductNames(products)
	return out, err
}

// shown returns what a caller sees of a project.
func (s surroundings) shown(row models.Project) contract.Project {
	out := contract.Project{
		ID:            row.ID,
		Team:          row.TeamID,
		Name:          row.Name,
		DisplayName:   row.DisplayName,
		FallbackOwner: row.FallbackOwner,
		Limits:        row.Limits,
		SettingsETag:  access.ETag(row.UpdatedAt),
		CreatedAt:     row.CreatedAt.UTC(),
		Frozen:        shownFrozen(row),
	}
	if row.DeletedAt != nil && row.PurgeAt != nil {
		out.Deleted = &contract.Deleted{Since: row.DeletedAt.UTC(), PurgeAt: row.PurgeAt.UTC()}
	}
	if team := s.teams[row.TeamID]; team.ClaimedAt == nil {
		out.ExpiresAt = contract.UTC(team.ExpiresAt)
	}
	changed := row.UpdatedAt
	for _, v := range s.versions[row.ID] {
		environments := s.environments[v.ID]
		out.Versions = append(out.Versions, shownVersion(s.addresses, row.Name, v, environments))
		changed = models.Later(changed, v.UpdatedAt)
		for _, e := range environments {
			changed = models.Later(changed, e.UpdatedAt)
		}
	}
	for _, t := range s.keyTypes[row.ID] {
		out.KeyTypes = append(out.KeyTypes, shownKeyType(t))
	}
	for _, t := range s.tenants[row.ID] {
		out.Tenants = append(out.Tenants, t.Name)
	}
	if row.ProductID != nil {
		out.Product = contract.OrNull(s.products[*row.ProductID])
	}
	out.ETag = access.ETag(changed) + "-" + digest(out.KeyTypes, out.Tenants)
	return out
}

func shownFrozen(row models.Project) *contract.Frozen {
	if row.FrozenAt == nil {
		return nil
	}
	return &contract.Frozen{Reason: row.FrozenReason, Since: row.FrozenAt.UTC()}
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

func shownVersion(
	at Addresses, project string, v models.Version, environments []models.Environment,
) contract.Version {
	out := contract.Version{
		ID:           v.ID,
		Name:         v.Name,
		RequestsAuth: serving.RequestsAuth(v),

		IP:   contract.IPRules{Allow: keys.Texts(v.IPAllow), Deny: keys.Texts(v.IPDeny)},
		ETag: access.ETag(v.UpdatedAt),
	}
	for _, e := range environments {
		if e.VersionID == v.ID {
			out.Environments = append(out.Environments, shownEnvironment(at, project, v.Name, e))
		}
	}
	return out
}

func shownEnvironment(at Addresses, project, version string, e models.Environment) contract.Environment {
	out := contract.Environment{
		ID: e.ID, Name: e.Name, Target: e.Target, Upstream: e.Upstream.Stated(), ETag: access.ETag(e.UpdatedAt),
	}
	if at != nil {
		out.URL = at.Address(project, version, e.Name)
	}
	return out
}
