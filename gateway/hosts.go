package gateway

import (
	"maps"
	"slices"

	"postern/core/snapshot"
)

// hosted is an environment with a host name of its customer's, at the path /.
type hosted struct {
	project     *project
	version     *version
	environment *environment
	revision    int64
}

// addHosts adds the host names of a project's environments. If two projects have one name, the one that was changed
// last gets it: the other's snapshot is from before it lost the name, and is kept because the project cannot be read
// any more.
func (t *table) addHosts(s *snapshot.Project, p *project) {
	for i := range p.versions {
		v := &p.versions[i]
		for j := range v.environments {
			e := &v.environments[j]
			for _, host := range s.Versions[i].Environments[j].Hosts {
				if other, taken := t.hosts[host]; !taken || other.revision < s.Revision {
					t.hosts[host] = hosted{project: p, version: v, environment: e, revision: s.Revision}
				}
			}
		}
	}
}

// findHost resolves a normalized path at a customer's host name. Nothing of it is a prefix.
// The root alone is the target itself, as on Kong for a route with hosts and the path /.
func (t *table) findHost(host, path string) (route, bool) {
	at, ok := t.hosts[host]
	if !ok {
		return route{}, false
	}
	if path == "/" {
		path = ""
	}
	return route{
		project: at.project, version: at.version, environment: at.environment, rest: path, table: t, domain: host,
	}, true
}

// Serves reports whether host, in lowercase, is a customer's name that leads to a project.
func (g *Gateway) Serves(host string) bool {
	_, ok := g.table.Load().hosts[host]
	return ok
}

// Hosts returns the customers' host names that lead to a project.
func (g *Gateway) Hosts() []string {
	return slices.Sorted(maps.Keys(g.table.Load().hosts))
}
