package snapshot

import (
	"slices"
	"strings"

	"postern/core/contract"
)

// CORS is the CORS of a project or a tenant.
type CORS struct {
	contract.CORS
	FromApps []string `json:"from_app_clients"` // the origins that AppOrigins allows, sorted; without those in Origins
}

// Allowed returns the allowed origins. If there are none, a project leaves CORS to its upstreams, and a tenant leaves
// it to the project.
func (c *CORS) Allowed() []string {
	return append(c.Origins[:len(c.Origins):len(c.Origins)], c.FromApps...)
}

// AllowsAny reports whether every origin is allowed.
func (c *CORS) AllowsAny() bool { return len(c.Origins) == 1 && c.Origins[0] == "*" }

// CORSOverride reports whether the tenant's own CORS applies to calls with its credentials.
func (t *Tenant) CORSOverride() bool {
	return t.CORS != nil && !t.Detached && len(t.CORS.Allowed()) > 0
}

// CORSUnion returns the CORS for calls whose tenant isn't known: everything that the project or any of its tenants
// allows. If one of them allows every origin, pages may not send cookies, because browsers don't accept "*" for calls
// with cookies. It returns nil if no origin is allowed.
func (p *Project) CORSUnion() *CORS {
	switch all := p.allCORS(); len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	default:
		return MergeCORS(all)
	}
}

// HasCORSOverrides reports whether a served tenant has its own CORS.
func (p *Project) HasCORSOverrides() bool {
	return slices.ContainsFunc(p.Tenants, func(t Tenant) bool { return t.CORSOverride() })
}

// allCORS returns the CORS of the project and of its tenants, without those that allow no origin.
func (p *Project) allCORS() []*CORS {
	var all []*CORS
	if p.CORS != nil && len(p.CORS.Allowed()) > 0 {
		all = append(all, p.CORS)
	}
	for i := range p.Tenants {
		if p.Tenants[i].CORSOverride() {
			all = append(all, p.Tenants[i].CORS)
		}
	}
	return all
}

// CORSByOrigin returns the CORS for each origin that the project or one of its tenants names: the union of all that
// allow the origin. others is the CORS for all other origins: the union of those with "*", or a CORS without origins.
func (p *Project) CORSByOrigin() (named map[string]*CORS, others *CORS) {
	byOrigin := map[string][]*CORS{}
	var open []*CORS // with a "*"
	all := p.allCORS()
	for _, c := range all {
		if c.AllowsAny() {
			open = append(open, c)
			continue
		}
		for _, origin := range c.Allowed() {
			byOrigin[origin] = append(byOrigin[origin], c)
		}
	}
	named = make(map[string]*CORS, len(byOrigin))
	for origin, list := range byOrigin {
		named[origin] = MergeCORS(restrict(append(list, open...), origin))
	}
	if len(open) > 0 {
		return named, MergeCORS(open)
	}
	others = MergeCORS(all)
	others.Origins = nil
	return named, others
}

// restrict returns the list with each CORS reduced to one origin.
func restrict(list []*CORS, origin string) []*CORS {
	out := make([]*CORS, len(list))
	for i, c := range list {
		one := *c
		one.Origins, one.FromApps = []string{origin}, nil
		out[i] = &one
	}
	return out
}

// MergeCORS returns the union of all; see CORSUnion about "*". Preflights are cached for the shortest of the stated
// times.
func MergeCORS(all []*CORS) *CORS {
	out := &CORS{}
	anyOrigin, asked := false, false
	for _, c := range all {
		anyOrigin = anyOrigin || c.AllowsAny()
		asked = asked || len(c.Headers) == 0
		out.Origins = union(out.Origins, c.Allowed())
		out.Methods = union(out.Methods, c.Methods)
		out.Headers = union(out.Headers, c.Headers)
		out.ExposedHeaders = union(out.ExposedHeaders, c.ExposedHeaders)
		out.AppOrigins = out.AppOrigins || c.AppOrigins
		out.Credentials = out.Credentials || c.Credentials
		if c.MaxAge != nil && (out.MaxAge == nil || *c.MaxAge < *out.MaxAge) {
			out.MaxAge = c.MaxAge
		}
	}
	if anyOrigin {
		out.Origins, out.Credentials = []string{"*"}, false
	}
	if asked {
		out.Headers = nil
	}
	return out
}

// union appends the entries that have lacks. It ignores case: header names are case-insensitive, and no two origins or
// methods differ only in case.
func union(have, more []string) []string {
	for _, one := range more {
		if !slices.ContainsFunc(have, func(other string) bool { return strings.EqualFold(one, other) }) {
			have = append(have, one)
		}
	}
	return have
}
