package movein

import (
	"encoding/hex"
	"net/textproto"
	"time"

	"postern/core/movein"
	"postern/models"
)

// headerOf is an upstream header of the plan.
type headerOf = movein.Header

func canonical(name string) string { return textproto.CanonicalMIMEHeaderKey(name) }

// projectStates returns the digests of a project and of its versions, environments and custom domains.
func projectStates(tx *models.Tx, row models.Project) (states, error) {
	out := states{}
	types, err := tx.KeyTypesOf(row.ID)
	if err != nil {
		return nil, err
	}
	product := ""
	if row.ProductID != nil {
		product = *row.ProductID
	}
	out[stateKey{kindProject, row.ID}] = digest(row.Name, row.DisplayName, row.FallbackOwner, product, row.Limits,
		row.APIAudience, row.APIScopes, row.CORS, types)
	versions, err := tx.VersionsOf(row.ID)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		out[stateKey{kindVersion, v.ID}] = digest(v.Name, v.RequestsAuth, v.IPAllow, v.IPDeny, v.Rules, v.Transforms,
			v.OpenAPISettings, len(v.IntrospectionSecret) > 0)
	}
	environments, err := tx.EnvironmentsOf(row.ID)
	if err != nil {
		return nil, err
	}
	headers, err := headersOf(tx, row.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range environments {
		_, certificate, err := tx.UpstreamCertificateOf(e.ID)
		if err != nil {
			return nil, err
		}
		out[stateKey{kindEnvironment, e.ID}] = digest(e.Name, e.Target, e.Upstream, headers[e.ID], certificate)
	}
	list, err := tx.DomainsOfProject(row.ID)
	for _, d := range list {
		out[stateKey{kindDomain, d.ID}] = domainState(d)
	}
	return out, err
}

func domainState(row models.Domain) []byte { return digest(row.EnvironmentID, row.Address()) }

// headersOf returns the upstream headers of a project by environment. A value that is set again is another one.
func headersOf(tx *models.Tx, project string) (map[string][]string, error) {
	rows, err := tx.UpstreamHeadersOfProjects(project)
	out := map[string][]string{}
	for _, h := range rows {
		at := h.UpdatedAt.UTC().Format(time.RFC3339Nano)
		out[h.EnvironmentID] = append(out[h.EnvironmentID], h.Name, at, hex.EncodeToString(digest([]byte(h.Value))))
	}
	return out, err
}

// tenantStates returns the digests of a tenant's groups, and of the owners of keys in them.
func tenantStates(tx *models.Tx, tenant string) (states, error) {
	out := states{}
	groups, _, err := tx.UserGroupsFrom(tenant, models.GroupFilter{}, 0, mostGroups)
	if err != nil {
		return nil, err
	}
	for _, g := range groups {
		out[stateKey{kindGroup, g.ID}] = digest(g.Name, g.DisplayName)
	}
	owners, err := tx.GroupOwnersOfTenant(tenant)
	in := map[string][]string{}
	for _, one := range owners {
		in[one.Owner] = append(in[one.Owner], one.GroupID, one.Role)
	}
	for owner, groups := range in {
		out[stateKey{kindOwner, owner}] = ownerState(groups)
	}
	return out, err
}

// ownerState is the digest of the groups and roles of an owner.
func ownerState(groups []string) []byte { return digest(groups) }

// mostGroups bounds the groups of a tenant that are compared.
const mostGroups = 100_000
