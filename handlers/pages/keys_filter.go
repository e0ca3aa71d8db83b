package pages

import (
	"postern/core/contract"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// keyList is what the list of keys can be asked for. Its names in the query begin with keys_, as old addresses have
// them. Owner and text are typed into the page's own form, beside the menus.
func keyList(p rules.Project) *listing {
	var types []string
	for _, t := range p.KeyTypes {
		types = append(types, t.Name)
	}
	l := &listing{
		path:   keysPath(p),
		prefix: "keys_",
		one:    "key",
		orders: []listOrder{{by: "created", desc: true}, {by: "owner"}, {by: "last_used", desc: true}},
		filters: []listFilter{
			{name: "owner", title: "Owner", typed: true},
			{name: "text", title: "Contains", typed: true},
			{name: "state", title: "State", options: []ui.Option{
				{Value: contract.KeyActive, Title: "Active"},
				{Value: contract.KeyFrozen, Title: "Frozen"},
				{Value: contract.KeyExpired, Title: "Expired"},
				{Value: contract.KeyRevoked, Title: "Revoked"},
			}},
			{name: "type", title: "Type", options: named(types)},
			{name: "environment", title: "Environment", options: append(
				[]ui.Option{{Value: "all", Title: "Keys for all"}}, named(environmentNames(p))...,
			)},
			{name: "tenant", title: "Tenant"},
		},
	}
	if len(p.Tenants) > 1 {
		l.filters[len(l.filters)-1].options = named(p.Tenants)
	}
	return l
}

// keysAsked is the request for the list of a project's keys.
func (l *listing) keysAsked(p rules.Project) contract.KeyList {
	return contract.KeyList{
		ProjectPath: contract.ProjectPath{Project: p.ID},
		Page:        l.asked(),
		Owner:       l.get("owner"),
		State:       l.get("state"),
		Tenant:      l.get("tenant"),
		KeyType:     l.get("type"),
		Environment: l.get("environment"),
		Text:        l.get("text"),
		Sort:        l.sorting(),
	}
}

// filterForm is the form of the filters.
func (l *listing) filterForm(m ui.List) projects.KeyFilter {
	form := projects.KeyFilter{
		Action:   l.path,
		Owner:    l.get("owner"),
		Text:     l.get("text"),
		ClearURL: m.ClearURL,
	}
	for _, name := range []string{"sort", "dir"} {
		if value := l.get(name); value != "" {
			form.Kept = append(form.Kept, ui.Hidden{Name: l.prefix + name, Value: value})
		}
	}
	for _, f := range l.filters {
		options := append([]ui.Option{{Title: "Every " + f.name}}, f.options...)
		choose(options, l.get(f.name))
		switch f.name {
		case "state":
			form.States = options
		case "type":
			form.Types = options
		case "environment":
			form.Environments = options
		case "tenant":
			form.Tenants = options
		}
	}
	return form
}

// named returns options whose values are their titles.
func named(names []string) []ui.Option {
	var out []ui.Option
	for _, name := range names {
		out = append(out, ui.Option{Value: name, Title: name})
	}
	return out
}
