package serving

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"postern/models"
)

// projectRows are the rows that projects are compiled from. They are read for all of the projects with the same
// queries, so that a start does not wait for a dozen of them for each project. Parts that few projects have, such as
// the providers of app clients, are read when such a project is compiled.
type projectRows struct {
	tx           *models.Tx
	projects     map[string]models.Project
	teams        map[string]models.Team
	products     map[string]models.Product
	revisions    map[string]models.Revision
	versions     map[string][]models.Version             // by project
	environments map[string][]models.Environment         // by version
	domains      map[string][]models.Domain              // by project
	summaries    map[string]string                       // of OpenAPI documents, by version
	headers      map[string][]models.UpstreamHeader      // by project
	certificates map[string][]models.UpstreamCertificate // by project
	signing      map[string][]models.CallSigningKey      // by project
	keyTypes     map[string][]models.KeyType             // by project
	tenants      map[string][]models.Tenant              // by project
	clients      map[string][]models.AppClient           // by tenant
	barred       map[string]bool                         // tenants, see models.TenantsWithBarred
}

// rowsOf reads the rows of projects. Those that do not exist are absent.
func rowsOf(tx *models.Tx, ids []string) (*projectRows, error) {
	rows := &projectRows{tx: tx}
	for _, read := range []func(ids []string) error{
		rows.readProjects,
		rows.readVersions,
		rows.readUpstreams,
		rows.readTenants, // before their app clients
		rows.readClients,
	} {
		if err := read(ids); err != nil {
			return nil, fmt.Errorf("serving: rows of %d projects: %w", len(ids), err)
		}
	}
	return rows, nil
}

func (r *projectRows) readProjects(ids []string) error {
	list, err := r.tx.ProjectsByID(ids)
	if err != nil {
		return err
	}
	r.projects = models.KeyBy(list, func(row models.Project) string { return row.ID })
	var teams, products []string
	for i := range list {
		teams = append(teams, list[i].TeamID)
		if list[i].ProductID != nil {
			products = append(products, *list[i].ProductID)
		}
	}
	owners, err := r.tx.TeamsServed(teams)
	if err != nil {
		return err
	}
	r.teams = models.KeyBy(owners, func(row models.Team) string { return row.ID })
	if len(products) > 0 {
		shared, err := r.tx.ProductsByID(products)
		if err != nil {
			return err
		}
		r.products = models.KeyBy(shared, func(row models.Product) string { return row.ID })
	}
	r.revisions, err = r.tx.RevisionsOf(ids)
	return err
}

func (r *projectRows) readVersions(ids []string) error {
	versions, err := r.tx.VersionsOf(ids...)
	if err != nil {
		return err
	}
	environments, err := r.tx.EnvironmentsOf(ids...)
	if err != nil {
		return err
	}
	domains, err := r.tx.VerifiedDomains(ids...)
	if err != nil {
		return err
	}
	keyTypes, err := r.tx.KeyTypesOf(ids...)
	if err != nil {
		return err
	}
	r.versions = models.GroupBy(versions, func(row models.Version) string { return row.ProjectID })
	r.environments = models.GroupBy(environments, func(row models.Environment) string { return row.VersionID })
	r.domains = models.GroupBy(domains, func(row models.Domain) string { return row.ProjectID })
	r.keyTypes = models.GroupBy(keyTypes, func(row models.KeyType) string { return row.ProjectID })
	r.summaries, err = r.tx.OpenAPISummaries(ids...)
	return err
}

// readUpstreams reads after readVersions what environments prove to their upstreams.
func (r *projectRows) readUpstreams(ids []string) error {
	headers, err := r.tx.UpstreamHeadersOfProjects(ids...)
	if err != nil {
		return err
	}
	certificates, err := r.tx.UpstreamCertificatesOfProjects(ids...)
	if err != nil {
		return err
	}
	signing, err := r.tx.CallSigningKeysOf(ids...)
	if err != nil {
		return err
	}
	of := map[string]string{} // projects of environments
	for project, versions := range r.versions {
		for i := range versions {
			for _, environment := range r.environments[versions[i].ID] {
				of[environment.ID] = project
			}
		}
	}
	r.headers = models.GroupBy(headers, func(row models.UpstreamHeader) string { return of[row.EnvironmentID] })
	r.certificates = models.GroupBy(certificates, func(row models.UpstreamCertificate) string {
		return of[row.EnvironmentID]
	})
	r.signing = models.GroupBy(signing, func(row models.CallSigningKey) string { return row.ProjectID })
	return nil
}

func (r *projectRows) readTenants(ids []string) (err error) {
	r.tenants, err = r.tx.TenantsOfProjects(ids)
	return err
}

func (r *projectRows) readClients([]string) error {
	served := map[string]bool{}
	for _, tenants := range r.tenants {
		for i := range tenants {
			served[tenants[i].ID] = true
		}
	}
	r.clients, r.barred = map[string][]models.AppClient{}, map[string]bool{}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(served)), tenantsAtOnce) {
		clients, err := r.tx.AppClientsOfTenants(ids)
		if err != nil {
			return err
		}
		maps.Copy(r.clients, models.GroupBy(clients, func(row models.AppClient) string { return row.TenantID }))
		barred, err := r.tx.TenantsWithBarred(ids)
		if err != nil {
			return err
		}
		maps.Copy(r.barred, barred)
	}
	return nil
}

// tenantsAtOnce bounds the parameters of a statement: projects can serve many tenants.
const tenantsAtOnce = 1000

// clientsServed lists the app clients of the tenants that a project serves by id.
func (r *projectRows) clientsServed(projectID string) []models.AppClient {
	var list []models.AppClient
	for _, tenant := range r.tenants[projectID] {
		list = append(list, r.clients[tenant.ID]...)
	}
	slices.SortFunc(list, func(a, b models.AppClient) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// mayBar reports whether users of a project can be barred. Users of a product's other projects can be, too.
func (r *projectRows) mayBar(row models.Project) bool {
	return row.ProductID != nil || slices.ContainsFunc(r.tenants[row.ID], func(tenant models.Tenant) bool {
		return r.barred[tenant.ID]
	})
}
