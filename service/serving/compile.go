package serving

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
)

// Compile reads a project's rows into the snapshot that gateways serve and exports
// contain. publicURL is the control plane's, below which app clients are issuers.
func Compile(tx *models.Tx, projectID, publicURL string) (*snapshot.Project, error) {
	all, err := CompileAll(tx, []string{projectID}, publicURL)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// CompileAll compiles projects with the same queries. It fails if one of them can't be compiled.
func CompileAll(tx *models.Tx, ids []string, publicURL string) ([]*snapshot.Project, error) {
	rows, err := rowsOf(tx, ids)
	if err != nil {
		return nil, err
	}
	out := make([]*snapshot.Project, 0, len(ids))
	for _, id := range ids {
		project, err := rows.compile(id, publicURL)
		if err != nil {
			return nil, err
		}
		out = append(out, project)
	}
	return out, nil
}

// compile compiles one of the projects.
func (r *projectRows) compile(projectID, publicURL string) (*snapshot.Project, error) {
	row, known := r.projects[projectID]
	if !known {
		return nil, fmt.Errorf("serving: compile %s: %w", projectID, models.ErrNotFound)
	}
	out := &snapshot.Project{
		ID:            row.ID,
		TeamID:        row.TeamID,
		Name:          row.Name,
		DisplayName:   row.DisplayName,
		FallbackOwner: row.FallbackOwner,
		CreatedAt:     row.CreatedAt.UTC(),
		TakenDown:     row.FrozenAt != nil,
		Deleted:       row.DeletedAt != nil,
		ImportedKeys:  row.ImportedKeys,
		Limits:        keys.ProjectLimits(row.Limits),
	}
	out.API = API(row)
	for _, read := range []func(*projectRows, models.Project, *snapshot.Project) error{
		readTeam,
		readProduct,
		readRevision,
		readVersions,
		readRoutes,
		readServedDocuments,
		readUpstreamHeaders,
		readClientCertificates,
		readCallSigning,
		readKeyTypes,
		readTenants,
		readMembers, // reads Tenants
		readCORS,
	} {
		if err := read(r, row, out); err != nil {
			return nil, fmt.Errorf("serving: compile %s: %w", projectID, err)
		}
	}
	if err := readLogin(r, row, publicURL, out); err != nil {
		return nil, fmt.Errorf("serving: compile the login of %s: %w", projectID, err)
	}
	return out, nil
}

// CompileWhole is Compile for an export, with three additions: tenants that the project no
// longer serves but that still have keys, a revision that includes changes of keys created
// in other projects of the product (both need a scan of all keys), and what only leaves
// with an export, such as people and the settings of app clients.
func CompileWhole(tx *models.Tx, projectID, publicURL string) (*snapshot.Project, error) {
	out, err := Compile(tx, projectID, publicURL)
	if err != nil {
		return nil, err
	}
	row, err := tx.ProjectByID(projectID)
	if err != nil {
		return nil, fmt.Errorf("serving: compile %s: %w", projectID, err)
	}
	if err := errors.Join(readPeople(tx, row, out),
		readDocuments(tx, out, func(v *snapshot.Version) bool { return v.OpenAPI == nil })); err != nil {
		return nil, err
	}
	if err := readDetached(tx, row, out); err != nil {
		return nil, fmt.Errorf("serving: tenants of the keys of %s: %w", projectID, err)
	}
	if err := reviseWhole(tx, row, out); err != nil {
		return nil, fmt.Errorf("serving: revision of %s with its keys: %w", projectID, err)
	}
	out.Users = nil // their memberships are exported
	return out, nil
}

// reviseWhole sets the revision to that of the product's newest key change, if it is
// later than the project's own. A key's revision belongs to the project that created it.
func reviseWhole(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	if row.ProductID == nil {
		return nil
	}
	newest, err := tx.RevisionOfProductKeys(*row.ProductID, out.Revision)
	if err != nil {
		return err
	}
	if newest.ID > out.Revision {
		out.Revision = newest.ID
		out.RevisedAt = models.Later(out.RevisedAt, newest.CreatedAt.UTC())
	}
	return nil
}

func readDetached(tx *models.Tx, row models.Project, out *snapshot.Project) error {
	used, err := tx.TenantsOfKeys(row.ID, row.ProductID)
	if err != nil {
		return err
	}
	tenants, err := tx.TenantsOfTeam(row.TeamID)
	if err != nil {
		return err
	}
	for _, t := range tenants {
		served := slices.ContainsFunc(out.Tenants, func(have snapshot.Tenant) bool { return have.ID == t.ID })
		if served || !slices.Contains(used, t.ID) {
			continue
		}
		cors, err := compileTenantCORS(tx, t)
		if err != nil {
			return err
		}
		out.Tenants = append(out.Tenants, snapshot.Tenant{
			ID:            t.ID,
			Name:          t.Name,
			FallbackOwner: t.FallbackOwner,
			CORS:          cors,
			Detached:      true,
		})
		// A tenant's changes write revisions only for projects that serve it.
		out.RevisedAt = models.Later(out.RevisedAt, t.UpdatedAt.UTC())
	}
	slices.SortFunc(out.Tenants, func(a, b snapshot.Tenant) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

func readTeam(r *projectRows, row models.Project, out *snapshot.Project) error {
	team, known := r.teams[row.TeamID]
	if !known {
		return fmt.Errorf("team %s: %w", row.TeamID, models.ErrNotFound)
	}
	if team.ClaimedAt == nil && team.ExpiresAt != nil {
		out.ExpiresAt = team.ExpiresAt.UTC()
	}
	return nil
}

func readProduct(r *projectRows, row models.Project, out *snapshot.Project) error {
	if row.ProductID == nil {
		return nil
	}
	product, known := r.products[*row.ProductID]
	if !known {
		return fmt.Errorf("product %s: %w", *row.ProductID, models.ErrNotFound)
	}
	out.ProductID, out.Product, out.ProductTitle = product.ID, product.Name, product.DisplayName
	out.ImportedKeys = out.ImportedKeys || product.ImportedKeys
	return nil
}

func readRevision(r *projectRows, row models.Project, out *snapshot.Project) error {
	revision := r.revisions[row.ID]
	out.Revision, out.RevisedAt = revision.ID, revision.CreatedAt.UTC()
	return nil
}

func readVersions(r *projectRows, row models.Project, out *snapshot.Project) error {
	for _, v := range r.versions[row.ID] {
		out.Versions = append(out.Versions, compileVersion(v, r.environments[v.ID], r.domains[row.ID]))
	}
	return nil
}

// compileVersion takes the version's own out of the project's environments and domains.
func compileVersion(
	v models.Version, environments []models.Environment, domains []models.Domain,
) snapshot.Version {
	out := snapshot.Version{
		ID:   v.ID,
		Name: v.Name,
		Access: snapshot.Access{
			RequestsAuth: RequestsAuth(v),
			IP:           snapshot.IPRules{Allow: v.IPAllow, Deny: v.IPDeny},
		},
	}
	out.Transforms = snapshot.TransformsOf(v.Transforms)
	out.Validation, out.Publication = v.OpenAPISettings.Validation, v.OpenAPISettings.Publication
	if out.Rules = Rules(v.Rules); out.Rules.None() {
		out.Rules = snapshot.Rules{}
	}
	for _, e := range environments {
		if e.VersionID == v.ID {
			out.Environments = append(out.Environments, compileEnvironment(e, domains))
		}
	}
	return out
}

func compileEnvironment(e models.Environment, domains []models.Domain) snapshot.Environment {
	out := snapshot.Environment{ID: e.ID, Name: e.Name, Target: e.Target, Upstream: e.Upstream}
	for _, d := range domains {
		if d.EnvironmentID == e.ID {
			out.Domains = append(out.Domains, snapshot.Domain{DomainAddress: d.Address()})
		}
	}
	return out
}

func readKeyTypes(r *projectRows, row models.Project, out *snapshot.Project) error {
	for _, t := range r.keyTypes[row.ID] {
		out.KeyTypes = append(out.KeyTypes, snapshot.KeyType{
			ID:        t.ID,
			Name:      t.Name,
			Scopes:    t.Scopes,
			ExpiresIn: time.Duration(t.ExpiresIn) * time.Second,
			Limits:    keys.Limits(t.Limits),
			BuiltIn:   t.BuiltIn,
		})
	}
	return nil
}

func readTenants(r *projectRows, row models.Project, out *snapshot.Project) error {
	for _, t := range r.tenants[row.ID] {
		cors, err := compileCORS(t.CORS, func() ([]models.AppClient, error) { return r.clients[t.ID], nil })
		if err != nil {
			return err
		}
		out.Tenants = append(out.Tenants, snapshot.Tenant{
			ID:            t.ID,
			Name:          t.Name,
			FallbackOwner: t.FallbackOwner,
			CORS:          cors,
		})
	}
	return nil
}

// RequestsAuth says which calls to a version are served. The secret of its introspection endpoint stays in the row.
func RequestsAuth(v models.Version) contract.RequestsAuth {
	out := v.RequestsAuth
	if out.Opaque != nil {
		endpoint := out.Introspection()
		endpoint.HasSecret = v.IntrospectionSecret != nil
		out.Opaque = &endpoint
	}
	return out
}

// API returns what app clients can request at a project.
func API(row models.Project) contract.API {
	return contract.API{Audience: row.APIAudience, Scopes: row.APIScopes}
}
