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

// Allowed returns the origins that are allowed. Without any, a project leaves CORS to its
// upstreams, and a tenant leaves it to the project.
func (c *CORS) Allowed() []string {
	return append(c.Origins[:len(c.Origins):len(c.Origins)], c.FromApps...)
}

// AllowsAny reports whether every origin is allowed.
func (c *CORS) AllowsAny() bool { return len(c.Origins) == 1 && c.Origins[0] == "*" }

// CORSOverride reports whether calls with credentials of the tenant are answered by its own CORS.
func (t *Tenant) CORSOverride() bool {
	return t.CORS != nil && !t.Detached && len(t.CORS.Allowed()) > 0
}

// CORSUnion returns what answers calls whose tenant is not known: what the project or any of its tenants allows. If one
// of them allows every origin, pages may not send cookies, because browsers don't accept "*" for these. It returns nil
// if no origin is allowed.
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

// allCORS returns those of the project and of its tenants that allow an origin.
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

// CORSByOrigin returns, for each origin that the project or a tenant of it names, what those
// together allow that allow the origin. others is what pages of all other origins are allowed: that
// of those with a "*", or a CORS without origins.
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

// restrict returns what each of the list allows pages of one origin.
func restrict(list []*CORS, origin string) []*CORS {
	out := make([]*CORS, len(list))
	for i, c := range list {
		one := *c
		one.Origins, one.FromApps = []string{origin}, nil
		out[i] = &one
	}
	return out
}

// MergeCORS returns what any of all allows; see CORSUnion about "*". Preflights are cached for the
// shortest of the times stated.
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

// union appends what is not in have yet. Names of headers are the same in any case, and neither
// origins nor methods differ in case alone.
func union(have, more []string) []string {
	for _, one := range more {
		if !slices.ContainsFunc(have, func(other string) bool { return strings.EqualFold(one, other) }) {
			have = append(have, one)
		}
	}
	return have
}
