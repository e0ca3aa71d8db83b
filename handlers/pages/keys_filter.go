package pages

import (
	"maps"
	"net/url"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/core/snapshot"
	"postern/service/keys"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

// keyQuery is the part of the query that filters keys. Its names begin with keys_ because
// the page has other sections.
type keyQuery url.Values

const (
	keysBefore  = "keys_before"
	keysSort    = "keys_sort"
	oldestFirst = "created"
)

func keyQueryOf(v *visit) keyQuery {
	q := url.Values{}
	for _, name := range []string{
		"keys_owner", "keys_text", "keys_state", "keys_type", "keys_environment", "keys_tenant",
	} {
		if value := strings.TrimSpace(v.c.Query(name)); value != "" {
			q.Set(name, value)
		}
	}
	if v.c.Query(keysSort) == oldestFirst {
		q.Set(keysSort, oldestFirst)
	}
	return keyQuery(q)
}

// list is the table with its order and the filters in force, of which form has the titles.
func (q keyQuery) list(p rules.Project, form projects.KeyFilter, rows int) ui.List {
	m := ui.List{Things: "keys", Found: english.Plural(rows, "key", "")}
	created := ui.Column{ID: "created", Sort: "descending", URL: q.without(p, "", keysSort, oldestFirst)}
	if q.get(keysSort) == oldestFirst {
		created.Sort, created.URL = "ascending", q.without(p, keysSort)
	}
	m.Columns = []ui.Column{created}
	m.Found += ", sorted by age, " + created.Sort
	for _, f := range []struct {
		name, title string
		options     []ui.Option
	}{
		{"keys_owner", "Owner", nil},
		{"keys_text", "Contains", nil},
		{"keys_state", "State", form.States},
		{"keys_type", "Type", form.Types},
		{"keys_environment", "Environment", form.Environments},
		{"keys_tenant", "Tenant", form.Tenants},
	} {
		value := q.get(f.name)
		if value == "" {
			continue
		}
		for _, o := range f.options {
			if o.Chosen {
				value = o.Title
			}
		}
		m.Chips = append(m.Chips, ui.Chip{Text: f.title + ": " + value, URL: q.without(p, f.name)})
	}
	m.ClearURL = form.ClearURL
	return m
}

// without is the address of the keys without a part of the query, and with others in pairs.
func (q keyQuery) without(p rules.Project, name string, pairs ...string) string {
	other := maps.Clone(url.Values(q))
	other.Del(name)
	for i := 0; i+1 < len(pairs); i += 2 {
		other.Set(pairs[i], pairs[i+1])
	}
	return keyQuery(other).page(p, "")
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
	if filters := len(q); filters > 1 || filters == 1 && q.get(keysSort) == "" {
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
