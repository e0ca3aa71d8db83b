package pages

import (
	"postern/core/contract"
	"postern/handlers/page"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// keyList is what the list of keys can be asked for. Its names in the query begin with keys_, as old addresses have
// them. Owner and text are typed into the page's own form, beside the menus.
func keyList(p rules.Project) *page.Listing {
	var types []string
	for _, t := range p.KeyTypes {
		types = append(types, t.Name)
	}
	l := &page.Listing{
		Path:   page.KeysPath(p),
		Prefix: "keys_",
		One:    "key",
		Orders: []page.ListOrder{{By: "created", Desc: true}, {By: "owner"}, {By: "last_used", Desc: true}},
		Filters: []page.ListFilter{
			{Name: "owner", Title: "Owner", Typed: true},
			{Name: "text", Title: "Contains", Typed: true},
			{Name: "state", Title: "State", Options: []ui.Option{
				{Value: contract.KeyActive, Title: "Active"},
				{Value: contract.KeyFrozen, Title: "Frozen"},
				{Value: contract.KeyExpired, Title: "Expired"},
				{Value: contract.KeyRevoked, Title: "Revoked"},
			}},
			{Name: "type", Title: "Type", Options: page.Named(types)},
			{Name: "environment", Title: "Environment", Options: append(
				[]ui.Option{{Value: "all", Title: "Keys for all"}}, page.Named(environmentNames(p))...,
			)},
			{Name: "tenant", Title: "Tenant"},
		},
	}
	if len(p.Tenants) > 1 {
		l.Filters[len(l.Filters)-1].Options = page.Named(p.Tenants)
	}
	return l
}

// keysAsked is the request for the list of a project's keys.
func keysAsked(l *page.Listing, p rules.Project) contract.KeyList {
	return contract.KeyList{
		ProjectPath: contract.ProjectPath{Project: p.ID},
		Page:        l.Asked(),
		Owner:       l.Get("owner"),
		State:       l.Get("state"),
		Tenant:      l.Get("tenant"),
		KeyType:     l.Get("type"),
		Environment: l.Get("environment"),
		Text:        l.Get("text"),
		Sort:        l.Sorting(),
	}
}

// filterForm is the form of the filters.
func filterForm(l *page.Listing, m ui.List) projects.KeyFilter {
	form := projects.KeyFilter{
		Action:   l.Path,
		Owner:    l.Get("owner"),
		Text:     l.Get("text"),
		ClearURL: m.ClearURL,
	}
	for _, name := range []string{"sort", "dir"} {
		if value := l.Get(name); value != "" {
			form.Kept = append(form.Kept, ui.Hidden{Name: l.Prefix + name, Value: value})
		}
	}
	for _, f := range l.Filters {
		options := append([]ui.Option{{Title: "Every " + f.Name}}, f.Options...)
		page.Choose(options, l.Get(f.Name))
		switch f.Name {
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
