package serving

import (
	"net/url"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
)

func compileTenantCORS(tx *models.Tx, row models.Tenant) (*snapshot.CORS, error) {
	return compileCORS(row.CORS, func() ([]models.AppClient, error) { return tx.AppClientsOfTenants([]string{row.ID}) })
}

// readCORS compiles a project's CORS.
func readCORS(r *projectRows, row models.Project, out *snapshot.Project) (err error) {
	out.CORS, err = compileCORS(row.CORS, func() ([]models.AppClient, error) { return r.clientsServed(row.ID), nil })
	return err
}

// compileCORS returns nil for a CORS that is not set.
func compileCORS(c contract.CORS, clients func() ([]models.AppClient, error)) (*snapshot.CORS, error) {
	if !c.IsSet() {
		return nil, nil
	}
	origins, err := AppOrigins(c, clients)
	return &snapshot.CORS{CORS: c, FromApps: origins}, err
}

// AppOrigins returns the origins of the redirect URIs of app clients, sorted, without those that
// it names itself; none unless it allows them. Redirect URIs of native apps have none.
func AppOrigins(column contract.CORS, clients func() ([]models.AppClient, error)) ([]string, error) {
	if !column.AppOrigins {
		return nil, nil
	}
	list, err := clients()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, client := range list {
		for _, uri := range client.RedirectURIs {
			u, err := url.Parse(uri)
			if err != nil {
				continue
			}
			origin := originOf(u)
			if OriginFault(origin) == "" && origin != "*" && !slices.Contains(column.Origins, origin) {
				out = append(out, origin)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
