package movein

import (
	"slices"

	"postern/core/configfile"
	"postern/core/kongfile"
)

// unknownChecks are the things of a file that may check or block calls and that can't be read: filters, entities of
// unknown types with a scope, and plugins that refer to something that isn't in the file.
type unknownChecks struct {
	on         map[*kongfile.Entity][]reason // by service or route
	everywhere []reason
}

const filterChains = "filter_chains"

func (p *planner) readUnknownChecks() {
	checks := &p.unknownChecks
	checks.on = map[*kongfile.Entity][]reason{}
	add := func(why reason, scopes ...*kongfile.Entity) {
		for _, e := range scopes {
			if e != nil {
				checks.on[e] = append(checks.on[e], why)
				return
			}
		}
		if len(checks.everywhere) == 0 {
			checks.everywhere = append(checks.everywhere, why)
		}
	}
	for _, e := range p.file.Entities {
		switch e.Type {
		case kongfile.Service, kongfile.Route:
			if e.Value.Get(filterChains).IsSet() {
				add(reason{"its filter_chains can't be imported", e}, e)
			}
		case kongfile.Plugin:
			name := e.PluginName()
			if !e.IsOn() || !e.Lacks(kongfile.Service) && !e.Lacks(kongfile.Route) || slices.Contains(harmless, name) {
				continue
			}
			p.say(e, "plugin.missing_closed")
			add(reason{"the plugin " + name + " may apply to it, but refers to an entity that isn't in the file", e},
				e.Route, e.Service)
		default:
			if titles[e.Type] != "" || !e.IsOn() {
				continue
			}
			scoped := e.Service != nil || e.Route != nil || e.Lacks(kongfile.Service) || e.Lacks(kongfile.Route)
			if !scoped && e.Type != filterChains {
				continue
			}
			p.say(e, "plugin.closed")
			add(reason{string(e.Type) + " can't be imported", e}, e.Route, e.Service)
		}
	}
}

// closeUnknown closes a route that something which can't be read may check.
func (p *planner) closeUnknown(r *route) {
	closed := slices.Concat(p.unknownChecks.everywhere, p.unknownChecks.on[r.entity])
	if service := r.entity.Service; service != nil {
		closed = append(closed, p.unknownChecks.on[service]...)
		if isUnclear(service.Value.Get("enabled")) {
			p.say(service, "service.enabled")
			closed = append(closed, reason{"its service's enabled is neither true nor false", service})
		}
	}
	r.access.closed = append(r.access.closed, closed...)
}

// isUnclear reports whether enabled is a text: Kong takes true and false only, and refuses the file.
func isUnclear(enabled configfile.Value) bool {
	return enabled.IsSet() && enabled.Kind != configfile.Bool && !enabled.Bool(false)
}
