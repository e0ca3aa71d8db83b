package pages

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/models"
	"postern/views/ui"
)

// barFrom is the number of rows from which on a list has its search, its filters and its orders above it: fewer are
// seen at a glance.
const barFrom = 4

// listing is what a page with a list can be asked for by its query: q, sort, dir, after and
// the filters. The page says what else the query asks the list for.
type listing struct {
	path    string
	prefix  string // of the names in the query, on pages with several lists
	section string // id of the list's section, on pages with several lists
	one     string // what is listed, such as tenant
	search  string // what q looks in; "" for lists without a search
	orders  []listOrder
	filters []listFilter
	scope   []string // other names in the query, which say what the list is of
	form    string   // id of the page's own form for the filters, "" for lists without one
	size    int      // rows of a page, 0 for the usual number

	query   url.Values // without the prefix
	unknown []string   // what the query asks for and the list does not offer, such as `sort "price"`
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
	typed   bool // any value is one, which a form of the page asks for
}

func (f listFilter) has(value string) bool {
	return f.typed || slices.ContainsFunc(f.options, func(o ui.Option) bool { return o.Value == value })
}

// text is what a chip says of a value.
func (f listFilter) text(value string) string {
	for _, o := range f.options {
		if o.Value == value {
			value = o.Title
		}
	}
	return f.title + ": " + value
}

// read takes the query of the visit.
func (l *listing) read(v *visit) *listing {
	l.query = url.Values{}
	take := func(name string, known func(string) bool) {
		switch value := strings.TrimSpace(v.c.Query(l.prefix + name)); {
		case value == "":
		case known(value):
			l.query.Set(name, value)
		default:
			l.unknown = append(l.unknown, fmt.Sprintf("%s %q", l.prefix+name, value))
		}
	}
	anything := func(string) bool { return true }
	if l.search != "" || l.form != "" {
		take("q", anything)
	}
	take("sort", func(by string) bool {
		return slices.ContainsFunc(l.orders, func(o listOrder) bool { return o.by == by })
	})
	if l.query.Has("sort") {
		take("dir", func(dir string) bool { return dir == "asc" || dir == "desc" })
	}
	for _, f := range l.filters {
		take(f.name, f.has)
	}
	for _, name := range l.scope {
		take(name, anything)
	}
	take("after", anything)
	return l
}

// name gives the values of a filter their titles.
func (l *listing) name(filter string, options []ui.Option) {
	for i := range l.filters {
		if l.filters[i].name == filter {
			l.filters[i].options = options
		}
	}
}

func (l *listing) get(name string) string { return l.query.Get(name) }

// page is the part of the list that is shown.
func (l *listing) page() models.Page {
	page := models.Page{Cursor: l.get("after"), Text: l.get("q"), Limit: l.size, Count: true}
	if l.query.Has("sort") {
		page.Sort = l.sort()
	}
	return page
}

// asked is the page that the address asks for, as a request of the contract has it; sorting is the order with it.
func (l *listing) asked() contract.Page {
	return contract.Page{Cursor: l.get("after"), Limit: l.size, Count: true}
}

func (l *listing) sorting() string {
	if !l.query.Has("sort") {
		return ""
	}
	order, desc := l.order()
	if desc {
		return "-" + order.by
	}
	return order.by
}

// sort is the order in force.
func (l *listing) sort() models.Sort {
	order, desc := l.order()
	return models.Sort{By: order.by, Desc: desc}
}

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
			query[l.prefix+name] = values
		}
	}
	for pair := range slices.Chunk(pairs, 2) {
		name, value := l.prefix+pair[0], pair[1]
		query.Del(name)
		if value != "" {
			query.Set(name, value)
		}
	}
	to := l.path
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	if l.section != "" {
		to += "#" + l.section
	}
	return to
}

// listView is the list as its page shows it.
func listView[T any](l *listing, found models.List[T]) ui.List {
	m := ui.List{
		Action:  l.path,
		Prefix:  l.prefix,
		Form:    l.form,
		Things:  english.PluralWord(2, l.one, ""),
		Text:    l.get("q"),
		Columns: l.columns(),
		Unknown: l.unknown,
	}
	clearing := []string{"q", ""}
	for _, f := range l.filters {
		clearing = append(clearing, f.name, "")
		if value := l.get(f.name); value != "" {
			m.Chips = append(m.Chips, ui.Chip{Text: f.text(value), URL: l.with(f.name, "")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.query)) {
		if name != "q" && name != "after" {
			m.Kept = append(m.Kept, ui.Hidden{Name: l.prefix + name, Value: l.get(name)})
		}
	}
	if len(m.Chips) > 0 || m.Text != "" {
		m.ClearURL = l.with(clearing...)
	}
	if l.query.Has("after") {
		m.FirstURL = l.with()
	}
	if found.Next != "" {
		m.MoreURL = l.with("after", found.Next)
	}
	m.Bar = len(found.Items) >= barFrom || m.ClearURL != "" || m.FirstURL != "" || m.MoreURL != ""
	if m.Bar {
		m.Search, m.Filters = l.search, l.menus()
	}
	m.Total = l.total(len(found.Items), found.Total, found.AtLeast)
	if found.Partial {
		m.Searched = fmt.Sprintf("Searched %s %s.", humanize.Comma(models.SearchWindow), m.Things)
	}
	order, desc := l.order()
	m.Found = english.Plural(len(found.Items), l.one, "") + ", sorted by " + strings.ReplaceAll(order.by, "_", " ")
	if desc {
		m.Found += ", descending"
	}
	return m
}

// total says how many rows there are, such as 50 of 312 keys; "" where it is not known.
func (l *listing) total(rows int, all int64, atLeast bool) string {
	switch things := english.PluralWord(int(all), l.one, ""); {
	case all == 0:
		return ""
	case all > models.MaxTotal:
		return fmt.Sprintf("%d of more than %s %s", rows, humanize.Comma(models.MaxTotal), things)
	case atLeast:
		return fmt.Sprintf("%d of at least %s %s", rows, humanize.Comma(all), things)
	case int64(rows) < all:
		return fmt.Sprintf("%d of %s %s", rows, humanize.Comma(all), things)
	}
	return english.Plural(rows, l.one, "")
}

// menus are the filters whose values are offered.
func (l *listing) menus() []ui.Filter {
	var out []ui.Filter
	for _, f := range l.filters {
		if f.typed || len(f.options) == 0 {
			continue
		}
		menu := ui.Filter{Title: f.title}
		for _, o := range f.options {
			menu.Options = append(menu.Options, ui.Tab{
				URL:     l.with(f.name, o.Value),
				Text:    o.Title,
				Current: o.Value == l.get(f.name),
			})
		}
		out = append(out, menu)
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
