package movein

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/kongfile"
)

// Plan lists the objects that an import of a file would create, including members that its JSON hides.
type Plan struct {
	contract.ImportPlan
	OwnerKeys [][]Key                   `json:"-"` // of each owner, since weak keys can be guessed from their hashes
	Headers   map[VersionPlace][]Header `json:"-"` // that upstreams get, with secret values
	Options   Options                   `json:"-"` // by which it was made
}

// VersionPlace is the place of a version in a plan.
type VersionPlace struct{ Project, Version int }

// Header is a header that an upstream gets.
type Header struct{ Name, Value string }

// planner makes a plan.
type planner struct {
	file    *kongfile.File
	options Options
	plan    *Plan
	items   map[*kongfile.Entity]*item
	opened  map[string]bool // entries of Options.Open that were used

	routes         []*route
	entries        map[*route][]*entry
	consumerGroups consumerGroups
	groups         map[string]string         // names here, by names in the file
	onOpen         map[*kongfile.Entity]bool // plugins of routes that are imported
	onClosed       map[*kongfile.Entity]bool
	perKey         bool  // limits of consumers are limits of their keys
	requested      taken // names of projects
	owners         taken // names of owners of keys
	unknownChecks  unknownChecks
	found          found           // plugins and services that were read
	unserved       map[string]bool // hosts that can't be custom domains
	refuses        bool            // the plan has closedGroup
}

// Kong returns the plan of importing a file. It returns an *OptionError for an option that doesn't fit the file.
func Kong(file *kongfile.File, o Options) (*Plan, error) {
	o, err := o.normal()
	if err != nil {
		return nil, err
	}
	p := &planner{
		file: file, options: o, items: map[*kongfile.Entity]*item{}, opened: map[string]bool{},
		unserved: map[string]bool{},
		groups:   map[string]string{}, requested: taken{}, owners: taken{},
		onOpen: map[*kongfile.Entity]bool{}, onClosed: map[*kongfile.Entity]bool{},
		plan: newPlan("kong "+file.Version, contract.DefaultImportName, o),
	}
	for _, e := range file.Entities {
		p.items[e] = &item{ImportItem: contract.ImportItem{
			Kind: string(e.Type), Title: titleOf(e), Name: e.Label(), Pointer: e.Pointer, Line: e.Line,
			Details: []string{},
		}}
		p.unknownFields(e)
	}
	p.found = p.newFound()
	p.readUnknownChecks()
	p.perKey = p.hasConsumerLimits()
	p.readConsumerGroups()
	p.planGroups()
	for _, e := range file.Of(kongfile.Route) {
		p.routes = append(p.routes, p.newRoute(e))
	}
	if err := p.place(); err != nil {
		return nil, err
	}
	p.build()
	p.planConsumers()
	p.others()
	p.notes()
	if err := o.check(p.opened, p.httpsHosts()); err != nil {
		return nil, err
	}
	items := make([]*item, 0, len(file.Entities))
	for _, e := range file.Entities {
		items = append(items, p.items[e])
	}
	p.plan.finish(items, file.Placeholders)
	return p.plan, nil
}

// newPlan returns a plan without items.
func newPlan(source, name string, o Options) *Plan {
	name = cmp.Or(o.Name, name)
	return &Plan{
		ImportPlan: contract.ImportPlan{
			Source: source, Product: name, Tenant: name,
			Projects: []contract.PlannedProject{}, Owners: []contract.PlannedOwner{},
			Groups: []contract.NewGroup{}, Closed: []contract.ClosedEntity{}, Notes: []contract.Warning{},
			Items: []contract.ImportItem{},
			ByHand: contract.ImportByHand{
				Hosts: []string{}, EgressCIDRs: []string{}, EgressNames: []string{}, Certificates: []string{},
				Placeholders: []contract.ImportPlaceholder{},
			},
		},
		Headers: map[VersionPlace][]Header{}, Options: o,
	}
}

// ErrTooMany is returned if routes without a host would need too many custom domains.
var ErrTooMany = errors.New(filelimits.KongDomains.Refusal())

// finish settles the status of each item, and sorts the lists.
func (p *Plan) finish(items []*item, placeholders []configfile.Placeholder) {
	p.OwnerCount = int64(len(p.Owners))
	for _, item := range items {
		item.settle()
		p.Summary.Add(item.Status, 1)
		p.Items = append(p.Items, item.ImportItem)
	}
	by := &p.ByHand
	for _, list := range []*[]string{&by.Hosts, &by.EgressCIDRs, &by.EgressNames, &by.Certificates} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	for _, one := range placeholders {
		if !one.Filled {
			by.Placeholders = append(by.Placeholders, contract.ImportPlaceholder{
				Name: one.Name, File: one.File, Line: one.Line, Count: one.Count,
			})
		}
	}
	slices.SortStableFunc(p.Closed, func(a, b contract.ClosedEntity) int { return cmp.Compare(a.Line, b.Line) })
}

// notes adds the items that apply to the whole file.
func (p *planner) notes() {
	note := func(code, detail string) {
		p.plan.Notes = append(p.plan.Notes, contract.Warning{Code: code, Detail: detail})
	}
	if len(p.plan.Projects) == 0 {
		return
	}
	if !p.options.RetryOnTimeout {
		note("retry_on_timeout", "Kong retries a call if the target doesn't respond in time, unless the call is a "+
			"POST or PATCH that was already sent. Postern does this only with `retry_on_timeout`.")
	}
	for _, e := range p.file.Of(kongfile.Plugin) {
		item := p.items[e]
		applies := p.onOpen[e] || e.Consumer != nil && item.used && !item.hasCode("plugin.no_keys")
		if applies && (e.PluginName() == "ip-restriction" || e.PluginName() == "rate-limiting") {
			note("client_addresses", "Kong accepts callers' addresses from proxies in trusted_ips, which isn't in "+
				"the file. Set POSTERN_TRUSTED_PROXIES to the same addresses. Otherwise, all callers behind a proxy "+
				"have the proxy's address.")
			break
		}
	}
	if slices.ContainsFunc(p.plan.Projects, func(one contract.PlannedProject) bool { return one.Limits.Owner != nil }) {
		note("limits_per_project", "Limits count each project's calls separately. All counts start at zero "+
			"after the move.")
	}
	if len(p.file.SelectTags) > 0 {
		note("select_tags", "The file contains only entities with the tags "+strings.Join(p.file.SelectTags, ", ")+
			" (select_tags). Plugins without these tags check calls in Kong but aren't imported, so routes may be "+
			"less strict in Postern. Export the complete configuration, or compare the routes with Kong before "+
			"callers use them.")
	}
	if len(p.file.Settings) > 0 {
		note("file_settings", "The file contains unknown fields: "+strings.Join(p.file.Settings, ", ")+".")
	}
}
