package movein

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"postern/core/awsfile"
	"postern/core/contract"
)

// build makes the project of an API, or adds its stage to the project of the API's other stages.
func (p *awsPlanner) build(a *api) {
	families := p.families(a)
	if len(families) == 0 {
		p.say(a.Entity, "api.no_operations")
		p.sayOperations(a)
		return
	}
	source := a.source()
	cors := p.readCORS(a)
	at, known := p.projects[source]
	if known && !reflect.DeepEqual(cors, p.plan.Projects[at].CORS) {
		p.say(a.Entity, "api.other_cors")
	}
	if !known {
		at = len(p.plan.Projects)
		p.projects[source] = at
		slug := contract.Slug(a.Name)
		if !contract.IsName(slug) {
			slug = "api"
		}
		p.plan.Projects = append(p.plan.Projects, contract.PlannedProject{
			Name: p.names.unique(slug, maxName), DisplayName: displayName(a.Name), From: a.Pointer, Source: source,
			Versions: []contract.PlannedVersion{}, CORS: cors,
		})
		p.versions[at] = taken{}
	}
	a.project = at
	p.settleDomains(a, families)
	for _, f := range families {
		p.addVersion(a, f)
	}
	p.sayOperations(a)
	if len(a.hosts) == 0 {
		p.say(a.Entity, "api.no_host")
	}
	for _, e := range p.files.Stages {
		if cmp.Or(e.Value.Get("stageName").Text, e.Value.Get("StageName").Text) == a.Stage {
			p.use(e)
		}
	}
}

// family are the operations of an API with a target in common.
type family struct {
	target     awsTarget
	operations []*operation
	entries    []awsEntry
}

// awsEntry is a custom domain, apart from its host name.
type awsEntry struct {
	prefix  string
	strip   bool
	methods []string // nil for all
}

// families groups the operations of an API that are imported.
func (p *awsPlanner) families(a *api) (all []*family) {
	for _, o := range a.operations {
		if !o.isImported() {
			continue
		}
		all = withOperation(all, o, o.target)
	}
	if len(all) < 2 || !slices.ContainsFunc(all, func(f *family) bool { return f.target.removed != "" }) &&
		!slices.ContainsFunc(a.hosts, func(h awsfile.Host) bool { return h.Prefix != "" }) {
		return all
	}
	// Custom domains tell several targets apart by prefixes, which are removed. So each prefix has a version.
	var split []*family
	for _, f := range all {
		for _, o := range f.operations {
			t := f.target
			t.literal = literalOf(o.path[len(segmentsOf(t.removed)):])
			t.removed += t.literal
			split = withOperation(split, o, t)
		}
	}
	return split
}

func withOperation(all []*family, o *operation, t awsTarget) []*family {
	at := slices.IndexFunc(all, func(f *family) bool { return f.target == t })
	if at < 0 {
		at = len(all)
		all = append(all, &family{target: t})
	}
	all[at].operations = append(all[at].operations, o)
	return all
}

// literalOf returns the beginning of a path that every call has.
func literalOf(path []string) string {
	at := slices.IndexFunc(path, isParameter)
	if at < 0 {
		at = len(path)
	}
	return joined(path[:at])
}

// settleDomains sets the custom domains of each family. An operation whose calls would reach another family is left
// out.
func (p *awsPlanner) settleDomains(a *api, families []*family) {
	if len(families) == 1 {
		prefix := families[0].target.removed
		families[0].entries = []awsEntry{{prefix: prefix, strip: true}}
		if p.sharesHost(a) { // custom domains with methods come before those without
			families[0].entries[0].methods = awsMethods
		}
		return
	}
	for i, f := range families {
		kept := f.operations[:0]
		for _, o := range f.operations {
			whole := f.target.literal == "" && f.target.removed == "" // the path is
			entry := awsEntry{prefix: f.entryOf(o), strip: !whole, methods: o.methods}
			if !isPrefix(entry.prefix) || isTaken(families[:i], entry) {
				p.say(o.Entity, "operation.overlap")
				o.skipped = true
				continue
			}
			f.add(entry)
			kept = append(kept, o)
		}
		f.operations = kept
	}
	for _, f := range families {
		for _, o := range f.operations {
			p.sayShadows(o, f, families)
		}
	}
}

// entryOf returns the prefix of the custom domain of an operation.
func (f *family) entryOf(o *operation) string {
	if f.target.literal == "" && f.target.removed == "" {
		return literalOf(o.path)
	}
	return f.target.removed
}

// sayShadows says which calls of an operation come to the custom domains of other families, which refuse them.
func (p *awsPlanner) sayShadows(o *operation, own *family, all []*family) {
	prefix := own.entryOf(o)
	for _, f := range all {
		if f == own {
			continue
		}
		for _, one := range f.entries {
			if one.prefix == prefix || !isBelow(one.prefix, prefix) {
				continue
			}
			path := segmentsOf(one.prefix)
			both, _ := common(o.methods, one.methods)
			if len(both) > 0 && (overlaps(o.path, path) || overlaps(o.path, append(path, "{all+}"))) {
				p.say(o.Entity, "operation.shadow", one.prefix)
			}
		}
	}
}

// add adds an entry, or its methods to one with the same prefix.
func (f *family) add(entry awsEntry) {
	for i := range f.entries {
		if one := &f.entries[i]; one.prefix == entry.prefix {
			one.methods = slices.Concat(one.methods, entry.methods)
			slices.Sort(one.methods)
			one.methods = slices.Compact(one.methods)
			return
		}
	}
	entry.methods = slices.Clone(entry.methods)
	f.entries = append(f.entries, entry)
}

// isTaken reports whether another family has a custom domain for some of the same calls.
func isTaken(families []*family, entry awsEntry) bool {
	return slices.ContainsFunc(families, func(f *family) bool {
		return slices.ContainsFunc(f.entries, func(one awsEntry) bool {
			if one.prefix != entry.prefix {
				return false
			}
			both, all := common(one.methods, entry.methods)
			return len(both) > 0 || all
		})
	})
}

// addVersion adds the version of a family.
func (p *awsPlanner) addVersion(a *api, f *family) {
	if len(f.operations) == 0 {
		return
	}
	project := &p.plan.Projects[a.project]
	names := p.versions[a.project]
	name := "1.0.0"
	switch {
	case names[name] == 0:
	case !a.hasVersions:
		name = a.environment
	default:
		name = strings.Trim(f.operations[0].Path, "/{}+")
	}
	a.hasVersions = true
	v := contract.PlannedVersion{
		Name: versionName(names, name), Domains: []contract.PlannedDomain{}, Routes: []string{},
		IP:          contract.IPRules{Allow: []string{}, Deny: []string{}},
		Environment: contract.PlannedEnvironment{UpstreamHeaders: []string{}},
	}
	v.Environment.NewEnvironment = p.environmentOf(f, a.environment)
	if headers := headersOf(f.target.headers); len(headers) > 0 {
		p.plan.Headers[VersionPlace{a.project, len(project.Versions)}] = headers
		for _, h := range headers {
			v.Environment.UpstreamHeaders = append(v.Environment.UpstreamHeaders, h.Name)
		}
	}
	p.setAccess(a, f, &v)
	for _, o := range f.operations {
		v.Routes = append(v.Routes, o.Pointer)
		if f.target.insecure {
			p.say(o.Entity, "operation.unverified")
		}
	}
	for _, host := range a.hosts {
		for _, e := range f.entries {
			if p.isHostTaken(a, host.Name+host.Prefix+e.prefix, e.methods) {
				p.say(a.Entity, "api.host_taken", host.Name+host.Prefix+e.prefix)
				continue
			}
			d := contract.PlannedDomain{Route: f.operations[0].Pointer, NewDomain: contract.NewDomain{
				Host: host.Name, PathPrefix: host.Prefix + e.prefix, Methods: e.methods, Version: v.Name,
				Environment: a.environment,
			}}
			if d.PathPrefix != "" {
				d.StripPrefix = new(e.strip || e.prefix == "") // the base path at least
			}
			v.Domains = append(v.Domains, d)
			p.plan.ByHand.Hosts = append(p.plan.ByHand.Hosts, host.Name)
		}
	}
	project.Versions = append(project.Versions, v)
}

// sharesHost reports whether another API or stage has one of the host names of an API.
func (p *awsPlanner) sharesHost(a *api) bool {
	return slices.ContainsFunc(p.apis, func(other *api) bool {
		return other != a && slices.ContainsFunc(a.hosts, func(h awsfile.Host) bool {
			return slices.ContainsFunc(other.hosts, func(one awsfile.Host) bool { return one.Name == h.Name })
		})
	})
}

// closeNested keeps calls to paths of an API from reaching another one, whose base path they also begin with.
func (p *awsPlanner) closeNested(a *api) {
	for _, host := range a.hosts {
		at := slices.IndexFunc(p.apis, func(one *api) bool {
			return one != a && one.hasVersions && slices.ContainsFunc(one.hosts, func(above awsfile.Host) bool {
				return above.Name == host.Name && above.Prefix != host.Prefix && isBelow(host.Prefix, above.Prefix)
			})
		})
		if at < 0 {
			continue
		}
		address := host.Name + host.Prefix
		left := slices.DeleteFunc(slices.Clone(awsMethods), func(method string) bool {
			return slices.ContainsFunc(p.addresses[address], func(one takenAddress) bool {
				return slices.Contains(one.methods, method)
			})
		})
		if len(left) == 0 {
			continue
		}
		owner := p.apis[at]
		if a.hasVersions {
			owner = a
		}
		p.addresses[address] = append(p.addresses[address], takenAddress{a, left})
		v := p.closedVersion(owner)
		v.Domains = append(v.Domains, contract.PlannedDomain{Route: a.Pointer, NewDomain: contract.NewDomain{
			Host: host.Name, PathPrefix: host.Prefix, StripPrefix: new(true), Methods: left, Version: v.Name,
			Environment: v.Environment.Name,
		}})
		p.plan.ByHand.Hosts = append(p.plan.ByHand.Hosts, host.Name)
	}
}

// closedVersion returns the version of a project that refuses every call.
func (p *awsPlanner) closedVersion(a *api) *contract.PlannedVersion {
	project := &p.plan.Projects[a.project]
	for i := range project.Versions {
		if project.Versions[i].Closed {
			return &project.Versions[i]
		}
	}
	project.Versions = append(project.Versions, contract.PlannedVersion{
		Name: versionName(p.versions[a.project], "closed"), Closed: true, Domains: []contract.PlannedDomain{},
		Routes: []string{}, IP: contract.IPRules{Allow: []string{}, Deny: []string{}},
		Rules: contract.Rules{Default: contract.RulesDeny, Mode: contract.RulesEnforce, List: []contract.Rule{}},
		RequestsAuth: contract.RequestsAuth{
			Mode: contract.Authenticate, Methods: []string{contract.MethodAPIKey}, Keyless: contract.KeylessReject,
		},
		Environment: contract.PlannedEnvironment{
			NewEnvironment: project.Versions[0].Environment.NewEnvironment, UpstreamHeaders: []string{},
		},
	})
	return &project.Versions[len(project.Versions)-1]
}

// isHostTaken reports whether another API or stage has a custom domain for some of the same calls, and otherwise takes
// it.
func (p *awsPlanner) isHostTaken(a *api, address string, methods []string) bool {
	for _, one := range p.addresses[address] {
		both, all := common(one.methods, methods)
		if one.api != a && (len(both) > 0 || all) {
			return true
		}
	}
	p.addresses[address] = append(p.addresses[address], takenAddress{a, methods})
	return false
}

// sayOperations says what becomes of the operations of an API.
func (p *awsPlanner) sayOperations(a *api) {
	for _, o := range a.operations {
		switch {
		case o.isCORS && a.project < len(p.plan.Projects) && p.plan.Projects[a.project].CORS != nil && a.hasVersions:
			p.say(o.Entity, "operation.preflight")
		case o.isCORS:
			p.say(o.Entity, "operation.preflight_skipped")
		case o.isImported() && o.needs:
			p.say(o.Entity, "operation.key")
		case o.isImported() && o.mixed:
			p.say(o.Entity, "operation.mixed")
		}
	}
}
