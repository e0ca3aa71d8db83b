package pages

import (
	"net/url"
	"strings"

	"postern/core/snapshot"
	"postern/service/keys"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// keyQuery is the part of the query that filters keys. Its names begin with keys_ because
// the page has other sections.
type keyQuery url.Values

const keysBefore = "keys_before"

func keyQueryOf(v *visit) keyQuery {
	q := url.Values{}
	for _, name := range []string{
		"keys_owner", "keys_text", "keys_state", "keys_type", "keys_environment", "keys_tenant",
	} {
		if value := strings.TrimSpace(v.c.Query(name)); value != "" {
			q.Set(name, value)
		}
	}
	return keyQuery(q)
}

func (q keyQuery) get(name string) string { return url.Values(q).Get(name) }

func (q keyQuery) filter() keys.Filter {
	return keys.Filter{
		Owner:       q.get("keys_owner"),
		State:       q.get("keys_state"),
		Tenant:      q.get("keys_tenant"),
		KeyType:     q.get("keys_type"),
		Environment: q.get("keys_environment"),
		Text:        q.get("keys_text"),
	}
}

// page returns the address of the keys from the cursor on; "" starts at the newest.
func (q keyQuery) page(p rules.Project, cursor string) string {
	query := url.Values{}
	for name, values := range q {
		query[name] = values
	}
	if cursor != "" {
		query.Set(keysBefore, cursor)
	}
	path := keysPath(p)
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

func (q keyQuery) form(p rules.Project) projects.KeyFilter {
	m := projects.KeyFilter{
		Action: keysPath(p),
		Owner:  q.get("keys_owner"),
		Text:   q.get("keys_text"),
		States: []ui.Option{
			{Title: "Every state"},
			{Value: string(snapshot.KeyActive), Title: "Active"},
			{Value: string(snapshot.KeyFrozen), Title: "Frozen"},
			{Value: keys.Expired, Title: "Expired"},
			{Value: string(snapshot.KeyRevoked), Title: "Revoked"},
		},
		Types: []ui.Option{{Title: "Every type"}},
		Environments: append(
			[]ui.Option{{Title: "Every environment"}, {Value: "all", Title: "Keys for all"}},
			named(environmentNames(p))...,
		),
	}
	for _, t := range p.KeyTypes {
		m.Types = append(m.Types, ui.Option{Value: t.Name, Title: t.Name})
	}
	if len(p.Tenants) > 1 {
		m.Tenants = append([]ui.Option{{Title: "Every tenant"}}, named(p.Tenants)...)
	}
	choose(m.States, q.get("keys_state"))
	choose(m.Types, q.get("keys_type"))
	choose(m.Environments, q.get("keys_environment"))
	choose(m.Tenants, q.get("keys_tenant"))
	if len(q) > 0 {
		m.ClearURL = keysPath(p)
	}
	return m
}

// named returns options whose values are their titles.
func named(names []string) []ui.Option {
	var out []ui.Option
	for _, name := range names {
		out = append(out, ui.Option{Value: name, Title: name})
	}
	return out
}
