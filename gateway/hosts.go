package gateway

import (
	"cmp"
	"maps"
	"slices"

	"postern/core/snapshot"
)

// site has the custom domains of a customer's host name, in the order in which they are tried. All are of one team.
type site struct {
	team     string
	revision int64 // of the project that was changed last
	domains  []hosted
}

// hosted is an environment with a custom domain.
type hosted struct {
	*snapshot.Domain
	project     *project
	version     *version
	environment *environment
	revision    int64
}

// addHosts adds the custom domains of a project's environments. If projects of two teams have one host name, the team
// of the project that was changed last gets it: the other's snapshot is from before that team lost the name, and is
// kept because the project cannot be read any more.
func (t *table) addHosts(s *snapshot.Project, p *project) {
	for i := range p.versions {
		v := &p.versions[i]
		for j := range v.environments {
			domains := s.Versions[i].Environments[j].Domains
			for n := range domains {
				t.addHost(s, hosted{&domains[n], p, v, &v.environments[j], s.Revision})
			}
		}
	}
}

func (t *table) addHost(s *snapshot.Project, one hosted) {
	at := t.hosts[one.Host]
	switch {
	case at == nil:
		at = &site{team: s.TeamID, revision: s.Revision}
		t.hosts[one.Host] = at
	case at.team != s.TeamID && at.revision >= s.Revision:
		return
	case at.team != s.TeamID:
		*at = site{team: s.TeamID, revision: s.Revision}
	}
	at.revision = max(at.revision, s.Revision)
	at.domains = append(at.domains, one)
}

// orderHosts sorts the domains of each host name. If two are equal, one is from a snapshot that is kept from before a
// change, so the other comes first.
func (t *table) orderHosts() {
	for _, at := range t.hosts {
		slices.SortStableFunc(at.domains, func(a, b hosted) int {
			return cmp.Or(a.ByPrecedence(b.Domain), cmp.Compare(b.revision, a.revision),
				cmp.Compare(a.environment.id, b.environment.id))
		})
	}
}

// findHost resolves a method and a normalized path at a customer's host name.
func (t *table) findHost(host, method, path string) (route, bool) {
	at := t.hosts[host]
	if at == nil {
		return route{}, false
	}
	for i := range at.domains {
		d := &at.domains[i]
		rest, takes := d.Takes(method, path)
		if !takes {
			continue
		}
		found := route{
			project: d.project, version: d.version, environment: d.environment, rest: rest, table: t, domain: d.Domain,
		}
		if d.PathPrefix != "" && d.StripPrefix {
			found.prefix = matchedPrefix(path, rest)
		}
		return found, true
	}
	return route{}, false
}

// domainHost returns the host of the custom domain that the route was found by; "" if it was found by another address.
func (r *route) domainHost() string {
	if r.domain == nil {
		return ""
	}
	return r.domain.Host
}

// Serves reports whether host, in lowercase, is a project's custom domain.
func (g *Gateway) Serves(host string) bool {
	_, ok := g.table.Load().hosts[host]
	return ok
}

// Hosts returns the host names of all custom domains.
func (g *Gateway) Hosts() []string {
	return slices.Sorted(maps.Keys(g.table.Load().hosts))
}
