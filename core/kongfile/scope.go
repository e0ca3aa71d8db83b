package kongfile

import (
	"slices"
	"strings"

	"postern/core/configfile"
)

// PluginName returns the name of a plugin.
func (e *Entity) PluginName() string { return e.Value.Get("name").Text }

// Config returns a member of a plugin's config.
func (e *Entity) Config(path ...string) configfile.Value { return e.Value.Get("config").Get(path...) }

// IsOn reports whether an entity isn't disabled. A text such as "false" doesn't disable it: Kong takes only truth
// values there.
func (e *Entity) IsOn() bool {
	v := e.Value.Get("enabled")
	return v.Kind != configfile.Bool || v.Bool(true)
}

// Lacks reports whether an entity refers to one of a type that the file doesn't have.
func (e *Entity) Lacks(t Type) bool { return slices.Contains(e.Missing, missing(t)) }

func missing(t Type) string {
	return "a " + strings.ReplaceAll(string(t), "_", " ") + " that isn't in the file"
}

// Effective returns the plugins that apply to all calls of a route, by name. Of several plugins with a name, only the
// one with the most specific scope applies. Plugins of consumers are left out. [Kong 3.10:
// kong/runloop/plugins_iterator.lua]
func (f *File) Effective(route *Entity) map[string]*Entity {
	found := map[string]*Entity{}
	rank := map[string]int{}
	for _, p := range f.pluginsOn(route) {
		if !p.IsOn() || p.Consumer != nil || p.Group != nil || len(p.Missing) > 0 {
			continue
		}
		if p.Route != nil && p.Route != route || p.Service != nil && p.Service != route.Service {
			continue
		}
		specific := 1
		if p.Service != nil {
			specific++
		}
		if p.Route != nil {
			specific += 2
		}
		if name := p.PluginName(); specific > rank[name] {
			found[name], rank[name] = p, specific
		}
	}
	return found
}

// pluginsOn returns the plugins whose scope can have the route.
func (f *File) pluginsOn(route *Entity) []*Entity {
	out := append([]*Entity{}, route.Plugins...)
	if route.Service != nil {
		out = append(out, route.Service.Plugins...)
	}
	return append(out, f.globals...)
}
