package movein

import (
	"cmp"
	"slices"
	"strings"

	"postern/core/policy"
)

// denySlashes refuses calls to the path itself of routes whose paths end with a slash, if Kong gives the same path
// without a slash to a route that checks more: with /docs and /docs/public/, calls to /docs/public. The gateway doesn't
// tell the two apart once it has removed the prefix.
func (p *planner) denySlashes(entries []*entry) {
	for _, e := range entries {
		if !e.prefix.slash || e.gone || e.deny {
			continue
		}
		candidates := slices.DeleteFunc(slices.Clone(entries), func(other *entry) bool {
			both, all := common(e.methods, other.methods)
			return other.route == e.route || other.deny || len(both) == 0 && !all || !other.prefix.takes(e.prefix.path)
		})
		slices.SortStableFunc(candidates, func(a, b *entry) int { // the one that Kong tries first
			return cmp.Or(b.rank().compare(a.rank()), cmp.Compare(b.prefix.length, a.prefix.length))
		})
		for _, winner := range candidates {
			if !e.route.access.isAsStrict(&winner.route.access) {
				p.denySlash(e, winner)
			}
			if winner.route.methods == nil { // it gets all calls that those before it don't take
				break
			}
		}
	}
}

func (p *planner) denySlash(e, winner *entry) {
	if e.route.opened || p.isOpened(e.route.entity) {
		p.say(e.route.entity, "route.opened")
		return
	}
	path := "/"
	if !e.strip {
		path = e.prefix.path
	}
	both, all := common(e.methods, winner.methods)
	if all {
		both = []string{policy.AnyMethod}
	}
	p.say(e.route.entity, "route.slash_denied")
	p.deny(e.route, winner.route, path, both)
}

// takes reports whether Kong matches the prefix with a path that doesn't end with a slash.
func (f prefix) takes(path string) bool {
	if f.slash {
		return strings.HasPrefix(path, f.path+"/")
	}
	return path == f.path || strings.HasPrefix(path, f.path) && (f.open || path[len(f.path)] == '/')
}
