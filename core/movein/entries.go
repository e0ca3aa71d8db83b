package movein

import (
	"cmp"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/policy"
)

// entry is a custom domain of a route.
type entry struct {
	route    *route
	host     string
	prefix   prefix
	strip    bool
	methods  []string // nil for all
	addedFor []string // methods for which the entry was added; nil for one of the file
	gone     bool     // another route takes all its calls
	deny     bool     // it leads to a version that refuses every call
}

// place gives each route its custom domains, so that a call that Kong sends to one route isn't sent to another that
// checks less.
func (p *planner) place() error {
	known := p.knownHosts()
	byHost := map[string][]*entry{}
	count := int64(0)
	for _, r := range p.routes {
		if r.left {
			continue
		}
		for _, host := range p.hostsOf(r, known) {
			for _, one := range r.prefixes {
				if count++; count > filelimits.KongDomains.Most {
					return ErrTooMany
				}
				byHost[host] = append(byHost[host], &entry{
					route: r, host: host, prefix: one, methods: r.methods,
					strip: r.strips() && one.path != "",
				})
			}
		}
	}
	hosts := make([]string, 0, len(byHost))
	for host := range byHost {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	p.entries = map[*route][]*entry{}
	for _, host := range hosts {
		byHost[host] = p.settle(byHost[host])
	}
	for _, host := range hosts {
		p.denySlashes(byHost[host])
	}
	p.closeRegions(byHost, known)
	for _, host := range hosts {
		for _, denial := range p.overtaken(byHost[host]) {
			byHost[host] = withDenial(byHost[host], denial)
		}
		p.guard(byHost[host])
	}
	p.denyChallenges()
	for _, host := range hosts {
		for _, e := range byHost[host] {
			if !e.gone {
				p.entries[e.route] = append(p.entries[e.route], e)
			}
		}
	}
	for _, r := range p.routes {
		if !r.left && len(p.hostsOf(r, known)) > 0 && len(r.prefixes) > 0 && len(p.entries[r]) == 0 {
			p.say(r.entity, "route.shadowed")
		}
	}
	return nil
}

// anyHost stands for all unknown host names. It has no custom domain, but its routes have gateway URLs, and are
// compared like those of a host name. So are the hosts with an asterisk.
const anyHost = "*"

// isReal reports whether a host can have custom domains.
func (p *planner) isReal(host string) bool { return !strings.Contains(host, "*") && !p.unserved[host] }

// knownHosts returns the host names of the file and of the options, those with an asterisk, and anyHost.
func (p *planner) knownHosts() []string {
	known := append(slices.Clone(p.options.Hosts), anyHost)
	for _, r := range p.routes {
		if !r.left {
			known = slices.Concat(known, r.hosts, r.wild)
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// hostsOf returns the host names of a route. A route without a host handles calls to all of them.
func (p *planner) hostsOf(r *route, known []string) []string {
	if len(r.hosts)+len(r.wild) == 0 {
		return known
	}
	out := slices.Concat(r.hosts, r.wild)
	for _, host := range known {
		for _, wild := range r.wild {
			if matchesWild(wild, host) && !slices.Contains(out, host) {
				out = append(out, host)
			}
		}
	}
	return out
}

// matchesWild reports whether a host name matches *.example.com or example.*.
func matchesWild(wild, host string) bool {
	if rest, ok := strings.CutPrefix(wild, "*"); ok {
		return strings.HasSuffix(host, rest) && len(host) > len(rest)
	}
	if rest, ok := strings.CutSuffix(wild, "*"); ok {
		return strings.HasPrefix(host, rest) && len(host) > len(rest)
	}
	return false
}

// mostRounds bounds how often the entries of a host are compared again after a change.
const mostRounds = 20

// settle changes the entries of a host until the gateway chooses the same route as Kong.
func (p *planner) settle(entries []*entry) []*entry {
	for range mostRounds {
		changed := false
		at := map[string][]*entry{}
		for _, e := range entries {
			if !e.gone {
				at[e.prefix.path] = append(at[e.prefix.path], e)
			}
		}
		for _, deeper := range slices.Clone(entries) {
			for path := deeper.prefix.path; ; path = floorOf(path) {
				for _, other := range at[path] {
					if deeper.gone || other.gone || other.route == deeper.route {
						continue
					}
					added, did := p.compare(deeper, other)
					if added != nil {
						if slices.ContainsFunc(entries, added.isSame) {
							continue
						}
						entries = append(entries, added)
					}
					changed = changed || did
				}
				if path == "" {
					break
				}
			}
		}
		if !changed {
			return entries
		}
	}
	return entries
}

// isSame reports whether two entries were added for the same calls to the same route.
func (e *entry) isSame(other *entry) bool {
	return e.route == other.route && e.prefix.path == other.prefix.path && slices.Equal(e.addedFor, other.addedFor)
}

// compare settles which of two entries gets the calls that both match. It returns an entry to add, and whether it
// changed anything. The first one's prefix equals the other's or is below it.
func (p *planner) compare(deeper, other *entry) (added *entry, changed bool) {
	both, all := common(deeper.methods, other.methods)
	if len(both) == 0 && !all {
		return nil, false
	}
	kong := deeper.rank().compare(other.rank())
	if kong == 0 {
		kong = cmp.Compare(deeper.prefix.length, other.prefix.length)
	}
	own := cmp.Or(cmp.Compare(named(deeper.methods), named(other.methods)),
		cmp.Compare(len(deeper.prefix.path), len(other.prefix.path)))
	if kong == 0 { // equal to Kong: which one it takes isn't said
		p.twins(deeper, other)
		kong = 1
		if other.route.entity.Line < deeper.route.entity.Line {
			kong = -1
		}
	}
	switch {
	case kong > 0 && own > 0:
		return nil, false
	case kong < 0 && own < 0: // the other one names methods; the gateway URL has them too
		p.denyOwn(deeper, other.route, both)
		return nil, false
	case own == 0: // one prefix: the loser keeps the methods that the winner doesn't have
		if kong > 0 {
			return nil, other.lose(deeper)
		}
		return nil, deeper.lose(other)
	case kong > 0: // the other one would win, since it names methods
		return &entry{
			route: deeper.route, host: deeper.host, prefix: deeper.prefix, strip: deeper.strip, methods: both,
			addedFor: both,
		}, true
	default:
		return nil, deeper.lose(other)
	}
}

// lose takes the methods of a winner from an entry.
func (e *entry) lose(winner *entry) bool {
	switch {
	case winner.methods == nil:
		e.gone = true
		return true
	case e.methods == nil:
		return false // the winner names methods, so it wins here too
	}
	rest := slices.DeleteFunc(slices.Clone(e.methods), func(method string) bool {
		return slices.Contains(winner.methods, method)
	})
	if len(rest) == len(e.methods) {
		return false
	}
	e.methods, e.gone = rest, len(rest) == 0
	return true
}

// twins closes two routes that match the same calls, unless both check the same.
func (p *planner) twins(a, b *entry) {
	for _, pair := range [][2]*entry{{a, b}, {b, a}} {
		one, other := pair[0].route, pair[1].route
		p.say(one.entity, "route.twin")
		if !one.access.isAsStrict(&other.access) {
			p.closeFor(one, other)
		}
	}
}

func named(methods []string) int { return min(len(methods), 1) }

// common returns the methods that two lists have in common; all is true if both have all.
func common(a, b []string) (both []string, all bool) {
	switch {
	case a == nil && b == nil:
		return nil, true
	case a == nil:
		return b, false
	case b == nil:
		return a, false
	}
	for _, method := range a {
		if slices.Contains(b, method) {
			both = append(both, method)
		}
	}
	return both, false
}

// closeRegions keeps calls of routes whose paths can't be imported from reaching routes that check less.
func (p *planner) closeRegions(byHost map[string][]*entry, known []string) {
	for _, q := range p.routes {
		if q.left || len(q.regions) == 0 || q.opened || !q.access.isChecked() {
			continue
		}
		for _, host := range p.hostsOf(q, known) {
			for _, region := range q.regions {
				byHost[host] = p.closeRegion(byHost[host], q, host, region)
			}
		}
	}
}

// closeFor closes a route that calls of another would reach, unless an option opens it.
func (p *planner) closeFor(r, other *route) {
	if r.opened || len(r.access.closed) > 0 {
		return
	}
	if p.isOpened(r.entity) {
		r.opened = true
		p.say(r.entity, "route.opened")
		return
	}
	p.say(r.entity, "route.overlap")
	r.access.closed = append(r.access.closed, reason{
		text: "calls for the route " + other.entity.Name() + ", which has different checks, would reach it",
	})
}

// isChecked reports whether a route's plugins check or block calls. What it matches doesn't count.
func (a *access) isChecked() bool {
	for _, one := range a.closed {
		if one.plugin != nil {
			return true
		}
	}
	open := *a
	open.closed = nil
	return open.isRestricted()
}

func (p *planner) closeRegion(entries []*entry, q *route, host, region string) []*entry {
	checked, rank := q.asChecked(), q.rankOf(q.regexRegions)
	for _, e := range entries[:len(entries):len(entries)] {
		within := isBelow(e.prefix.path, region)
		if e.gone || e.deny || e.route == q || !within && !isBelow(region, e.prefix.path) {
			continue
		}
		both, all := common(e.methods, q.methods)
		if len(both) == 0 && !all || e.rank().compare(rank) > 0 || e.route.opened ||
			e.route.access.isAsStrict(checked) {
			continue
		}
		if within {
			p.closeFor(e.route, q)
			continue
		}
		entries = withDenial(entries, &entry{
			route: e.route, host: host, prefix: prefix{path: region, length: len(region)}, methods: both, deny: true,
		})
		path := region
		if e.strip {
			path = path[len(e.prefix.path):]
		}
		if all {
			both = []string{policy.AnyMethod}
		}
		p.deny(e.route, q, path+everything, both)
	}
	return entries
}

// withDenial adds an entry that refuses calls, apart from those that another entry takes. That one was compared with
// the route itself.
func withDenial(entries []*entry, denial *entry) []*entry {
	for _, other := range entries {
		if !other.gone && other.prefix.path == denial.prefix.path && named(other.methods) == named(denial.methods) {
			denial.lose(other)
		}
	}
	if denial.gone {
		return entries
	}
	return append(entries, denial)
}

// asChecked returns the access of a route without the reasons that aren't plugins.
func (r *route) asChecked() *access {
	out := r.access
	out.closed = slices.DeleteFunc(slices.Clone(out.closed), func(one reason) bool { return one.plugin == nil })
	return &out
}

// closedGroup is a group without members: rules that require it refuse every call.
const closedGroup = "kong-closed"

// guard refuses calls that Kong gives to a route, and that would here reach one that checks less: at that one's gateway
// URL, which has all paths, or because the path goes on in the same segment (/admin matches /administrator).
func (p *planner) guard(entries []*entry) {
	at := map[string][]*entry{}
	for _, e := range entries {
		if !e.gone && !e.deny {
			at[e.prefix.path] = append(at[e.prefix.path], e)
		}
	}
	for _, e := range entries {
		// Also one that another route took over: that route doesn't get the calls that go on in the segment.
		if e.deny || e.prefix.path == "" {
			continue
		}
		for path := floorOf(e.prefix.path); ; path = floorOf(path) {
			for _, other := range at[path] {
				p.guardFrom(other, e)
			}
			if path == "" {
				break
			}
		}
	}
}

// overtaken takes calls from entries that Kong gives to another route because its path goes on in the segment: /admin
// with a host wins over /administrator without one. It returns entries that refuse some of these calls.
func (p *planner) overtaken(entries []*entry) (denials []*entry) {
	for _, winner := range entries {
		if winner.deny || !winner.prefix.open || winner.addedFor != nil {
			continue
		}
		for _, e := range entries {
			if e.gone || e.deny || e.route == winner.route || !strings.HasPrefix(e.prefix.path, winner.prefix.path) ||
				isBelow(e.prefix.path, winner.prefix.path) || winner.rank().compare(e.rank()) <= 0 {
				continue
			}
			switch both, all := common(e.methods, winner.route.methods); {
			case len(both) == 0 && !all:
			case e.methods == nil && winner.route.methods != nil:
				denials = append(denials, &entry{
					route: e.route, host: e.host, prefix: e.prefix, methods: both, deny: true,
				})
				p.denyOwn(e, winner.route, both)
			default:
				e.lose(&entry{methods: winner.route.methods})
			}
		}
	}
	return denials
}

func (p *planner) guardFrom(other, e *entry) {
	both, all := common(e.route.methods, other.methods)
	if other.route == e.route || len(both) == 0 && !all || other.rank().compare(e.rank()) > 0 ||
		other.route.access.isAsStrict(&e.route.access) {
		return
	}
	path := e.prefix.path
	if other.strip {
		path = path[len(other.prefix.path):]
	}
	if all {
		both = []string{policy.AnyMethod}
	}
	if other.strip && len(other.route.prefixes) > 1 || !other.route.hasHostsOf(e.route) {
		p.say(other.route.entity, "route.guarded_everywhere")
	}
	p.deny(other.route, e.route, path+everything, both)
	if e.prefix.open {
		p.deny(other.route, e.route, path+"{rest}"+everything, both)
		p.say(other.route.entity, "route.guarded")
	}
}

// hasHostsOf reports whether all host names of a route are also those of another.
func (r *route) hasHostsOf(other *route) bool {
	if len(other.hosts)+len(other.wild) == 0 {
		return true
	}
	return len(r.hosts) > 0 && len(r.wild) == 0 && !slices.ContainsFunc(r.hosts, func(host string) bool {
		return !slices.Contains(other.hosts, host)
	})
}

// denyOwn has the version of an entry refuse calls to the entry's own paths that Kong gives to another route.
func (p *planner) denyOwn(e *entry, other *route, methods []string) {
	if e.route.access.isAsStrict(&other.access) {
		return
	}
	path := everything
	if !e.strip {
		path = e.prefix.path + path
	}
	p.deny(e.route, other, path, methods)
}

// deny has the version of a route refuse calls that Kong gives to another.
func (p *planner) deny(r, other *route, path string, methods []string) {
	if policy.CheckRulePath(path) != nil {
		p.closeFor(r, other)
		return
	}
	r.denials = withRule(r.denials, contract.Rule{Methods: methods, Path: path, Groups: []string{closedGroup}})
	if !p.refuses {
		p.refuses = true
		p.plan.Groups = append(p.plan.Groups, contract.NewGroup{
			Name: closedGroup, DisplayName: "No members, so rules that require this group refuse every call",
		})
	}
}

// withRule returns a list with a rule added, without two rules for one path that require the same.
func withRule(list []contract.Rule, rule contract.Rule) []contract.Rule {
	list = slices.Clone(list)
	at := slices.IndexFunc(list, func(one contract.Rule) bool {
		return one.Path == rule.Path && isEqual(one.Groups, rule.Groups)
	})
	if at < 0 {
		return append(list, rule)
	}
	methods := slices.Concat(list[at].Methods, rule.Methods)
	slices.Sort(methods)
	if methods = slices.Compact(methods); slices.Contains(methods, policy.AnyMethod) {
		methods = []string{policy.AnyMethod}
	}
	list[at].Methods = methods
	return list
}

// isBelow reports whether a prefix is another or below it.
func isBelow(path, top string) bool {
	return path == top || strings.HasPrefix(path, top+"/")
}
