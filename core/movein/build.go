package movein

import (
	"fmt"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/kongfile"
	"postern/core/policy"
)

// builder makes the projects of a plan.
type builder struct {
	*planner
	projects map[projectKey]int // places in the plan
	byServe  map[*kongfile.Entity]int
	versions map[versionKey]int
	names    map[int]taken  // of versions, by project
	hosts    map[string]int // projects by the host names of their custom domains
	sources  map[string]int // of projects: how many have a source
}

// projectKey has the properties that the routes of a project share. CORS and limits are settings of projects, and each
// plugin counts on its own.
type projectKey struct{ service, cors, limit *kongfile.Entity }

// versionKey has the properties that the routes of a version share.
type versionKey struct {
	project                             int
	keyAuth, acl, ip, request, response *kongfile.Entity
	mode                                string
	preserveHost, closed                bool
	denies                              *route // one whose version refuses calls of other routes: it shares with none
}

// build makes projects and versions of the routes.
func (p *planner) build() {
	b := &builder{
		planner: p, projects: map[projectKey]int{}, byServe: map[*kongfile.Entity]int{}, versions: map[versionKey]int{},
		names: map[int]taken{}, sources: map[string]int{},
	}
	for _, closed := range []bool{false, true} { // so that closed routes find the project of their service
		for _, r := range p.routes {
			if r.left || (len(r.access.closed) > 0) != closed {
				continue
			}
			where := p.onOpen
			if closed {
				where = p.onClosed
				p.close(r)
			} else {
				p.sayRoute(r)
			}
			for _, e := range r.plugins {
				where[e] = true
			}
			service := r.entity.Service
			if service == nil || p.targetOf(service) == "" {
				continue
			}
			b.add(r, closed)
		}
	}
	for n := range b.plan.Projects {
		for i := range b.plan.Projects[n].Versions {
			if v := &b.plan.Projects[n].Versions[i]; !v.Closed {
				v.Rules = settled(v.Rules)
			}
		}
	}
	b.addDenials()
	for _, r := range p.routes {
		p.byHand(r)
	}
}

// add adds a route to its version.
func (b *builder) add(r *route, closed bool) {
	a := &r.access
	n := b.project(r, closed)
	key := versionKey{project: n, closed: closed}
	if !closed {
		key = versionKey{n, a.keyAuth, a.acl, a.ip, a.request, a.response, a.auth.Mode,
			r.entity.Value.Get("preserve_host").Bool(false), false, nil}
		if len(r.denials) > 0 {
			key.denies = r
		}
	}
	project := &b.plan.Projects[n]
	at, known := b.versions[key]
	if !known {
		at = len(project.Versions)
		b.versions[key] = at
		project.Versions = append(project.Versions, b.version(r, n, b.environment(r), closed))
	}
	v := &project.Versions[at]
	v.Routes = append(v.Routes, r.entity.Pointer)
	if !closed {
		v.Rules = withRoute(v.Rules, r, b.entries[r])
	}
	for _, e := range b.entries[r] {
		if !e.deny && b.isReal(e.host) {
			v.Domains = append(v.Domains, e.domain(v.Name))
		}
	}
}

// project returns the place of the project of a route in the plan.
func (b *builder) project(r *route, closed bool) int {
	service := r.entity.Service
	if n, known := b.byServe[service]; known && closed {
		return n
	}
	key := projectKey{service: service}
	if !closed {
		key.cors, key.limit = r.access.cors, r.access.limit
	}
	if n, known := b.projects[key]; known {
		return n
	}
	n := len(b.plan.Projects)
	one := contract.PlannedProject{
		Name: b.projectName(service.Name()), DisplayName: displayName(service.Name()), From: service.Pointer,
		Source: b.sourceOf(service), Versions: []contract.PlannedVersion{},
	}
	if !closed {
		one.Limits, one.CORS = r.limits, b.readCORS(r.access.cors)
	}
	b.plan.Projects = append(b.plan.Projects, one)
	b.projects[key] = n
	if _, known := b.byServe[service]; !known {
		b.byServe[service] = n
	}
	return n
}

// sourceOf returns what identifies the next project of a service in later imports.
func (b *builder) sourceOf(service *kongfile.Entity) string {
	source := service.ID()
	if source == "" {
		source = service.Name()
	}
	out := source
	n := max(2, b.sources[source])
	for ; b.sources[out] > 0; n++ {
		out = fmt.Sprintf("%s #%d", source, n)
	}
	b.sources[source] = n
	b.sources[out] = max(2, b.sources[out])
	return out
}

// version returns the version of a route, without domains.
func (b *builder) version(
	r *route, project int, environment contract.NewEnvironment, closed bool,
) contract.PlannedVersion {
	if b.names[project] == nil {
		b.names[project] = taken{}
	}
	name := "closed"
	switch {
	case closed:
	case b.names[project]["1.0.0"] == 0:
		name = "1.0.0"
	default:
		name = r.entity.Name()
	}
	v := contract.PlannedVersion{
		Name: versionName(b.names[project], strings.TrimPrefix(name, "/")), Closed: closed,
		Domains: []contract.PlannedDomain{}, Routes: []string{},
		IP:    contract.IPRules{Allow: []string{}, Deny: []string{}},
		Rules: contract.Rules{Default: contract.RulesDeny, Mode: contract.RulesEnforce, List: []contract.Rule{}},
		RequestsAuth: contract.RequestsAuth{
			Mode: contract.Authenticate, Methods: []string{contract.MethodAPIKey}, Keyless: contract.KeylessReject,
		},
	}
	v.Environment = contract.PlannedEnvironment{NewEnvironment: environment, UpstreamHeaders: []string{}}
	if closed {
		return v
	}
	a := &r.access
	v.RequestsAuth, v.IP = a.auth, a.ranges
	if a.request != nil || a.response != nil {
		changes, headers := b.readTransforms(a)
		v.Transforms = &changes
		for _, header := range headers {
			v.Environment.UpstreamHeaders = append(v.Environment.UpstreamHeaders, header.Name)
		}
		if len(headers) > 0 {
			b.plan.Headers[VersionPlace{project, len(b.plan.Projects[project].Versions)}] = headers
		}
	}
	return v
}

// everything is the path of a rule for all calls.
const everything = "/**"

// withRoute adds the calls of a route to the rules of its version. The version also has a gateway URL, which takes all
// paths and methods, so the rules allow only those that the route has.
func withRoute(rules contract.Rules, r *route, entries []*entry) contract.Rules {
	var groups []string
	if len(r.access.rules.List) > 0 {
		groups = r.access.rules.List[0].Groups
	}
	for _, e := range entries {
		if e.deny || e.addedFor != nil {
			continue
		}
		path, methods := everything, e.methods
		if !r.strips() {
			path = e.prefix.path + everything
		}
		if methods == nil {
			methods = []string{policy.AnyMethod}
		}
		rules.List = withRule(rules.List, contract.Rule{Methods: methods, Path: path, Groups: groups})
	}
	for _, rule := range r.denials {
		rules.List = withRule(rules.List, rule)
	}
	return rules
}

// settled returns rules with their default. If they allow everything, only groups and denials are left.
func settled(rules contract.Rules) contract.Rules {
	for _, denial := range rules.List {
		if !slices.Contains(denial.Groups, closedGroup) {
			continue
		}
		for i := range rules.List {
			one := &rules.List[i]
			if one.Path == denial.Path && !slices.Contains(one.Groups, closedGroup) {
				one.Methods = slices.DeleteFunc(slices.Clone(one.Methods), func(method string) bool {
					return slices.Contains(denial.Methods, method) || slices.Contains(denial.Methods, policy.AnyMethod)
				})
			}
		}
	}
	rules.List = slices.DeleteFunc(rules.List, func(one contract.Rule) bool { return len(one.Methods) == 0 })
	if !slices.ContainsFunc(rules.List, func(one contract.Rule) bool {
		return one.Path == everything && slices.Contains(one.Methods, policy.AnyMethod) &&
			!slices.Contains(one.Groups, closedGroup)
	}) {
		return rules
	}
	rules.Default = contract.RulesAllow
	rules.List = slices.DeleteFunc(rules.List, func(one contract.Rule) bool { return len(one.Groups) == 0 })
	return rules
}

// addDenials adds the custom domains that lead to refusals only: parts of other routes, and routes whose service isn't
// imported.
func (b *builder) addDenials() {
	b.hosts = map[string]int{}
	for n := len(b.plan.Projects) - 1; n >= 0; n-- { // the first one counts
		for i := range b.plan.Projects[n].Versions {
			for _, d := range b.plan.Projects[n].Versions[i].Domains {
				b.hosts[d.Host] = n
			}
		}
	}
	for _, r := range b.routes {
		homeless := !r.left && (r.entity.Service == nil || b.targetOf(r.entity.Service) == "")
		for _, e := range b.entries[r] {
			if !e.deny && !homeless || !b.isReal(e.host) {
				continue
			}
			n, found := b.projectOn(e.host, r)
			if !found {
				continue // no call to the host name comes to a project
			}
			key := versionKey{project: n, closed: true}
			at, known := b.versions[key]
			project := &b.plan.Projects[n]
			if !known {
				at = len(project.Versions)
				b.versions[key] = at
				same := project.Versions[0].Environment.NewEnvironment
				project.Versions = append(project.Versions, b.version(r, n, same, true))
			}
			v := &project.Versions[at]
			v.Domains = append(v.Domains, e.domain(v.Name))
			if _, known := b.hosts[e.host]; !known {
				b.hosts[e.host] = n
			}
		}
	}
}

// projectOn returns the project of a route, or otherwise one with a custom domain of this host name.
func (b *builder) projectOn(host string, r *route) (int, bool) {
	if n, known := b.byServe[r.entity.Service]; known && r.entity.Service != nil {
		return n, true
	}
	n, found := b.hosts[host]
	return n, found
}

func (e *entry) domain(version string) contract.PlannedDomain {
	d := contract.PlannedDomain{Route: e.route.entity.Pointer, NewDomain: contract.NewDomain{
		Host: e.host, PathPrefix: e.prefix.path, Methods: e.methods, Version: version, Environment: environment,
	}}
	if e.prefix.path != "" {
		d.StripPrefix = &e.strip
	}
	return d
}

// close lists a route that stays closed.
func (p *planner) close(r *route) {
	one := contract.ClosedEntity{
		Kind: "route", Name: r.entity.Name(), Pointer: r.entity.Pointer, Line: r.entity.Line, Reasons: []string{},
	}
	pluginsOnly := true
	for _, reason := range r.access.closed {
		if !slices.Contains(one.Reasons, reason.text) {
			one.Reasons = append(one.Reasons, reason.text)
		}
		pluginsOnly = pluginsOnly && (reason.plugin != nil || strings.HasPrefix(reason.text, "calls for the route"))
	}
	if pluginsOnly {
		one.Open = "--open " + quoted(r.entity.Name())
	}
	p.plan.Closed = append(p.plan.Closed, one)
	p.say(r.entity, "route.closed")
}

func quoted(name string) string {
	if strings.ContainsAny(name, " \t'\"$`\\*?&|;<>()") {
		return fmt.Sprintf("%q", name)
	}
	return name
}

// sayRoute says what differs about the calls that an imported route takes.
func (p *planner) sayRoute(r *route) {
	for _, text := range r.openable {
		p.plan.Closed = append(p.plan.Closed, contract.ClosedEntity{
			Kind: "route", Name: r.entity.Name(), Pointer: r.entity.Pointer, Line: r.entity.Line,
			Reasons: []string{text}, Open: "--open " + quoted(r.entity.Name()),
		})
		p.say(r.entity, "route.anonymous")
	}
	switch {
	case len(r.hosts)+len(r.wild) == 0 && !slices.ContainsFunc(p.entries[r], func(e *entry) bool {
		return !e.deny && p.isReal(e.host)
	}):
		p.say(r.entity, "route.no_host")
	case len(r.hosts)+len(r.wild) == 0:
		p.say(r.entity, "route.any_host")
	case len(r.wild) > 0:
		p.say(r.entity, "route.wildcard")
	}
	if slices.ContainsFunc(r.hosts, func(host string) bool { return p.unserved[host] }) {
		p.say(r.entity, "route.unserved_host")
	}
	protocols := r.entity.Value.Get("protocols").Texts()
	isGRPC := slices.Contains(protocols, "grpc") || slices.Contains(protocols, "grpcs")
	if isGRPC && slices.ContainsFunc(p.entries[r], func(e *entry) bool { return e.strip }) {
		p.say(r.entity, "route.grpc")
	}
}

// byHand lists the changes that an import of a route can't make.
func (p *planner) byHand(r *route) {
	for _, e := range p.entries[r] {
		if p.isReal(e.host) {
			p.plan.ByHand.Hosts = append(p.plan.ByHand.Hosts, e.host)
		}
	}
}

// planGroups gives each group of the file a name that is valid here.
func (p *planner) planGroups() {
	names := taken{closedGroup: 2} // which must never have members
	add := func(name string) {
		if _, known := p.groups[name]; known || name == "" {
			return
		}
		own := names.unique(groupName(name), maxGroup)
		p.groups[name] = own
		group := contract.NewGroup{Name: own}
		if own != name {
			group.DisplayName = name
		}
		p.plan.Groups = append(p.plan.Groups, group)
	}
	for _, e := range p.file.Of(kongfile.ACL) {
		if len(e.Value.Unfilled()) == 0 {
			add(e.Value.Get("group").Text)
		}
	}
	for _, e := range p.file.Of(kongfile.Plugin) {
		if e.PluginName() == "acl" {
			for _, name := range e.Config("allow").Texts() {
				add(name)
			}
		}
	}
}
