package pages

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"

	"postern/models"
	"postern/views/ui"
)

// listing is what a page with a list can be asked for by its query: q, sort, dir, after and
// the filters. What it does not offer is ignored.
type listing struct {
	path    string
	one     string // what is listed, such as tenant
	search  string // what q looks in; "" for lists without a search
	orders  []listOrder
	filters []listFilter
	keeps   []string // other parts of the query that its links keep

	query url.Values
}

// listOrder is a column that the list can be sorted by. The first one is the usual order.
type listOrder struct {
	by   string
	text string // for lists without a table, which show no head of a column
	desc bool   // begins with the highest
}

// listFilter offers values of a part of the query.
type listFilter struct {
	name    string
	title   string
	options []ui.Option
}

// read takes the query of the visit.
func (l *listing) read(v *visit) *listing {
	l.query = url.Values{}
	take := func(name string, known func(string) bool) {
		if value := strings.TrimSpace(v.c.Query(name)); value != "" && known(value) {
			l.query.Set(name, value)
		}
	}
	anything := func(string) bool { return true }
	if l.search != "" {
		take("q", anything)
	}
	take("sort", func(by string) bool {
		return slices.ContainsFunc(l.orders, func(o listOrder) bool { return o.by == by })
	})
	if l.query.Has("sort") {
		take("dir", func(dir string) bool { return dir == "asc" || dir == "desc" })
	}
	for _, f := range l.filters {
		take(f.name, func(value string) bool {
			return slices.ContainsFunc(f.options, func(o ui.Option) bool { return o.Value == value })
		})
	}
	for _, name := range l.keeps {
		take(name, anything)
	}
	take("after", anything)
	return l
}

func (l *listing) get(name string) string { return l.query.Get(name) }

// page is the part of the list that is shown.
func (l *listing) page() models.Page {
	page := models.Page{Cursor: l.get("after"), Text: l.get("q")}
	if order, desc := l.order(); l.query.Has("sort") {
		page.Sort = models.Sort{By: order.by, Desc: desc}
	}
	return page
}

// order is the order in force.
func (l *listing) order() (o listOrder, desc bool) {
	i := slices.IndexFunc(l.orders, func(o listOrder) bool { return o.by == l.get("sort") })
	if i < 0 {
		return l.orders[0], l.orders[0].desc
	}
	switch l.get("dir") {
	case "asc":
		return l.orders[i], false
	case "desc":
		return l.orders[i], true
	}
	return l.orders[i], l.orders[i].desc
}

// with is the address of the list with one part of the query changed, from the first page on;
// an empty value takes the part away.
func (l *listing) with(pairs ...string) string {
	query := url.Values{}
	for name, values := range l.query {
		if name != "after" {
			query[name] = values
		}
	}
	for i := 0; i < len(pairs); i += 2 {
		query.Del(pairs[i])
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	if len(query) == 0 {
		return l.path
	}
	return l.path + "?" + query.Encode()
}

// view is the list as its page shows it; next is the cursor of the next page.
func (l *listing) view(rows int, next string) ui.List {
	things := english.PluralWord(2, l.one, "")
	m := ui.List{Action: l.path, Things: things, Search: l.search, Text: l.get("q")}
	clearing := []string{"q", ""}
	for _, f := range l.filters {
		m.Filters = append(m.Filters, l.filter(f))
		clearing = append(clearing, f.name, "")
		if value := l.get(f.name); value != "" {
			i := slices.IndexFunc(f.options, func(o ui.Option) bool { return o.Value == value })
			m.Chips = append(m.Chips, ui.Chip{Text: f.title + ": " + f.options[i].Title, URL: l.with(f.name, "")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.query)) {
		if name != "q" && name != "after" {
			m.Kept = append(m.Kept, ui.Hidden{Name: name, Value: l.get(name)})
		}
	}
	if len(m.Chips) > 0 || m.Text != "" {
		m.ClearURL = l.with(clearing...)
	}
	if l.query.Has("after") {
		m.FirstURL = l.with()
	}
	if next != "" {
		m.MoreURL = l.with("after", next)
	}
	m.Columns = l.columns()
	order, desc := l.order()
	m.Found = english.Plural(rows, l.one, "") + ", sorted by " + strings.ReplaceAll(order.by, "_", " ")
	if desc {
		m.Found += ", descending"
	}
	return m
}

func (l *listing) filter(f listFilter) ui.Filter {
	out := ui.Filter{Title: f.title}
	for _, o := range f.options {
		out.Options = append(out.Options, ui.Tab{
			URL:     l.with(f.name, o.Value),
			Text:    o.Title,
			Current: o.Value == l.get(f.name),
		})
	}
	return out
}

// columns link each order; that of the one in force turns it round.
func (l *listing) columns() []ui.Column {
	now, desc := l.order()
	var out []ui.Column
	for _, o := range l.orders {
		c := ui.Column{ID: o.by, Text: o.text}
		next := o.desc
		if o.by == now.by {
			c.Sort, next = "ascending", !desc
			if desc {
				c.Sort = "descending"
			}
		}
		dir := "asc"
		if next {
			dir = "desc"
		}
		c.URL = l.with("sort", o.by, "dir", dir)
		out = append(out, c)
	}
	return out
}
