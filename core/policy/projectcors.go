package policy

import "postern/core/snapshot"

// ProjectCORS has the CORS of a project and of those of its tenants that have their own. It is immutable.
type ProjectCORS struct {
	own     *CORS            // nil: left to the upstream
	tenants map[string]*CORS // by id; nil: no tenant has one

	// The union of all for each origin, which applies until the caller is known. Set with tenants.
	named  map[string]*CORS // by origin
	others *CORS            // of all other origins
}

// NewProjectCORS returns nil if neither the project nor a tenant allows an origin.
func NewProjectCORS(p *snapshot.Project) *ProjectCORS {
	out := &ProjectCORS{own: NewCORS(p.CORS)}
	if !p.HasCORSOverrides() {
		if out.own == nil {
			return nil
		}
		return out
	}
	out.tenants = map[string]*CORS{}
	for i := range p.Tenants {
		if t := &p.Tenants[i]; t.CORSOverride() {
			out.tenants[t.ID] = NewCORS(t.CORS)
		}
	}
	named, others := p.CORSByOrigin()
	out.named = make(map[string]*CORS, len(named))
	for origin, c := range named {
		out.named[origin] = NewCORS(c)
	}
	out.others = compileCORS(others)
	out.others.varies = true
	return out
}

// Unknown returns the CORS for preflights, which have no credentials, and for calls whose credentials are refused: the
// union of the project's and its tenants'. It is never nil.
func (p *ProjectCORS) Unknown(origin string) *CORS {
	if p.tenants == nil {
		return p.own
	}
	if found := p.named[origin]; found != nil {
		return found
	}
	if found := p.named[withoutDefaultPort(origin)]; found != nil {
		return found
	}
	return p.others
}

// Of returns the CORS for a call with credentials of a tenant, "" for a call without credentials. It returns nil if
// CORS is left to the upstream.
func (p *ProjectCORS) Of(tenantID string) *CORS {
	if p == nil {
		return nil
	}
	if found := p.tenants[tenantID]; found != nil {
		return found
	}
	return p.own
}
