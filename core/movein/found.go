package movein

import (
	"postern/core/contract"
	"postern/core/kongfile"
)

// found keeps the parts of the file that were read once, because each route can need them again: a global plugin
// applies to all routes.
type found struct {
	upstreams   map[string]*kongfile.Entity   // by name
	authorities map[string][]*kongfile.Entity // by ID and name
	consumers   map[string][]*kongfile.Entity // by ID and username

	allowed    map[*kongfile.Entity][]string // the groups of acl plugins
	ranges     map[*kongfile.Entity]foundRanges
	cors       map[*kongfile.Entity]*contract.CORS
	transforms map[[2]*kongfile.Entity]foundTransforms
	targets    map[*kongfile.Entity][]*kongfile.Entity // of upstreams: those that can be imported
}

type foundRanges struct {
	rules contract.IPRules
	ok    bool
}

type foundTransforms struct {
	changes contract.Transforms
	secrets []Header
}

func (p *planner) newFound() found {
	f := found{
		upstreams: map[string]*kongfile.Entity{}, authorities: map[string][]*kongfile.Entity{},
		consumers: map[string][]*kongfile.Entity{}, allowed: map[*kongfile.Entity][]string{},
		ranges: map[*kongfile.Entity]foundRanges{}, cors: map[*kongfile.Entity]*contract.CORS{},
		transforms: map[[2]*kongfile.Entity]foundTransforms{},
		targets:    map[*kongfile.Entity][]*kongfile.Entity{},
	}
	for _, e := range p.file.Of(kongfile.Upstream) {
		if name := e.Value.Get("name").Text; f.upstreams[name] == nil {
			f.upstreams[name] = e
		}
	}
	add := func(list map[string][]*kongfile.Entity, e *kongfile.Entity, id, name string) {
		list[id] = append(list[id], e)
		if name != id {
			list[name] = append(list[name], e)
		}
	}
	for _, e := range p.file.Of(kongfile.CACertificate) {
		add(f.authorities, e, e.ID(), e.Value.Get("name").Text)
	}
	for _, e := range p.file.Of(kongfile.Consumer) {
		add(f.consumers, e, e.ID(), e.Value.Get("username").Text)
	}
	return f
}

// allowedGroups returns the groups that an acl plugin allows, by their names here.
func (p *planner) allowedGroups(e *kongfile.Entity) []string {
	if groups, known := p.found.allowed[e]; known {
		return groups
	}
	groups := []string{}
	seen := map[string]bool{}
	for _, name := range e.Config("allow").Texts() {
		if own := p.groups[name]; own != "" && !seen[own] {
			seen[own] = true
			groups = append(groups, own)
		}
	}
	p.found.allowed[e] = groups
	return groups
}

// ipRules returns the addresses of an ip-restriction plugin, and whether all can be read and there is one.
func (p *planner) ipRules(e *kongfile.Entity) (contract.IPRules, bool) {
	if one, known := p.found.ranges[e]; known {
		return one.rules, one.ok
	}
	allow, ok := ranges(e.Config("allow").Texts())
	deny, okay := ranges(e.Config("deny").Texts())
	one := foundRanges{contract.IPRules{Allow: allow, Deny: deny}, ok && okay && len(allow)+len(deny) > 0}
	p.found.ranges[e] = one
	return one.rules, one.ok
}
