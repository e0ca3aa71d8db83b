package page

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
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

// Listing has the parameters of a page with a list, from its query: q, sort, dir, after and the filters. The page says
// what else the query asks the list for.
type Listing struct {
	Path    string
	Prefix  string // of the names in the query, on pages with several lists
	Section string // id of the list's section, on pages with several lists
	One     string // kind of the listed objects, such as tenant
	Search  string // what q looks in; "" for lists without a search
	Orders  []ListOrder
	Filters []ListFilter
	Scope   []string // other names in the query, which select the list
	Form    string   // id of the page's own form for the filters, "" for lists without one
	Size    int      // rows of a page, 0 for the usual number

	Query   url.Values // without the prefix
	unknown []string   // requests of the query that the list doesn't support, such as `sort "price"`

	Bar bool // the search and the filters are shown even if the list is short
}

// ListOrder is a column that the list can be sorted by. The first one is the usual order.
type ListOrder struct {
	By   string
	Text string // for lists without a table, which show no head of a column
	Desc bool   // begins with the highest
}

// ListFilter offers values of a part of the query.
type ListFilter struct {
	Name    string
	Title   string
	Options []ui.Option
	Typed   bool // any value is one, which a form of the page asks for
}

func (f ListFilter) has(value string) bool {
	return f.Typed || slices.ContainsFunc(f.Options, func(o ui.Option) bool { return o.Value == value })
}

// text returns the text of a chip for a value.
func (f ListFilter) text(value string) string {
	for _, o := range f.Options {
		if o.Value == value {
			value = o.Title
		}
	}
	return f.Title + ": " + value
}

// Read takes the query of the visit.
func (l *Listing) Read(v *Visit) *Listing {
	l.Query = url.Values{}
	take := func(name string, known func(string) bool) {
		switch value := strings.TrimSpace(v.Gin.Query(l.Prefix + name)); {
		case value == "":
		case known(value):
			l.Query.Set(name, value)
		default:
			l.unknown = append(l.unknown, fmt.Sprintf("%s %q", l.Prefix+name, value))
		}
	}
	anything := func(string) bool { return true }
	if l.Search != "" || l.Form != "" {
		take("q", anything)
	}
	take("sort", func(by string) bool {
		return slices.ContainsFunc(l.Orders, func(o ListOrder) bool { return o.By == by })
	})
	if l.Query.Has("sort") {
		take("dir", func(dir string) bool { return dir == "asc" || dir == "desc" })
	}
	for _, f := range l.Filters {
		take(f.Name, f.has)
	}
	for _, name := range l.Scope {
		take(name, anything)
	}
	take("after", anything)
	return l
}

// Name gives the values of a filter their titles.
func (l *Listing) Name(filter string, options []ui.Option) {
	for i := range l.Filters {
		if l.Filters[i].Name == filter {
			l.Filters[i].Options = options
		}
	}
}

// Get returns a part of the query, by its name without the prefix.
func (l *Listing) Get(name string) string { return l.Query.Get(name) }

// Page is the part of the list that is shown.
func (l *Listing) Page() models.Page {
	page := models.Page{Cursor: l.Get("after"), Text: l.Get("q"), Limit: l.Size, Count: true}
	if l.Query.Has("sort") {
		page.Sort = l.Sort()
	}
	return page
}

// Request returns the page of the list that the address selects, for a request of the contract.
func (l *Listing) Request() contract.Page {
	return contract.Page{Cursor: l.Get("after"), Limit: l.Size, Count: true}
}

// Sorting is the current order in the form of a request's sort, "" for the default.
func (l *Listing) Sorting() string {
	if !l.Query.Has("sort") {
		return ""
	}
	order, desc := l.order()
	if desc {
		return "-" + order.By
	}
	return order.By
}

// Sort is the order in force.
func (l *Listing) Sort() models.Sort {
	order, desc := l.order()
	return models.Sort{By: order.By, Desc: desc}
}

func (l *Listing) order() (o ListOrder, desc bool) {
	i := slices.IndexFunc(l.Orders, func(o ListOrder) bool { return o.By == l.Get("sort") })
	if i < 0 {
		return l.Orders[0], l.Orders[0].Desc
	}
	switch l.Get("dir") {
	case "asc":
		return l.Orders[i], false
	case "desc":
		return l.Orders[i], true
	}
	return l.Orders[i], l.Orders[i].Desc
}

// With is the address of the list with one part of the query changed, from the first page on;
// an empty value takes the part away.
func (l *Listing) With(pairs ...string) string {
	query := url.Values{}
	for name, values := range l.Query {
		if name != "after" {
			query[l.Prefix+name] = values
		}
	}
	for pair := range slices.Chunk(pairs, 2) {
		name, value := l.Prefix+pair[0], pair[1]
		query.Del(name)
		if value != "" {
			query.Set(name, value)
		}
	}
	to := l.Path
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	if l.Section != "" {
		to += "#" + l.Section
	}
	return to
}

// ListView is the list as its page shows it.
func ListView[T any](l *Listing, found models.List[T]) ui.List {
	m := ui.List{
		Action:  l.Path,
		Prefix:  l.Prefix,
		Form:    l.Form,
		Things:  english.PluralWord(2, l.One, ""),
		Text:    l.Get("q"),
		Columns: l.columns(),
		Unknown: l.unknown,
	}
	clearing := []string{"q", ""}
	for _, f := range l.Filters {
		clearing = append(clearing, f.Name, "")
		if value := l.Get(f.Name); value != "" {
			m.Chips = append(m.Chips, ui.Chip{Text: f.text(value), URL: l.With(f.Name, "")})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.Query)) {
		if name != "q" && name != "after" {
			m.Kept = append(m.Kept, ui.Hidden{Name: l.Prefix + name, Value: l.Get(name)})
		}
	}
	if len(m.Chips) > 0 || m.Text != "" {
		m.ClearURL = l.With(clearing...)
	}
	if l.Query.Has("after") {
		m.FirstURL = l.With()
	}
	if found.Next != "" {
		m.MoreURL = l.With("after", found.Next)
	}
	m.Bar = l.Bar || len(found.Items) >= barFrom || m.ClearURL != "" || m.FirstURL != "" || m.MoreURL != ""
	if m.Bar {
		m.Search, m.Filters = l.Search, l.menus()
	}
	m.Total = l.total(len(found.Items), found.Total, found.AtLeast)
	if found.Partial {
		m.Searched = fmt.Sprintf("Searched %s %s.", humanize.Comma(models.SearchWindow), m.Things)
	}
	order, desc := l.order()
	m.Found = english.Plural(len(found.Items), l.One, "") + ", sorted by " + strings.ReplaceAll(order.By, "_", " ")
	if desc {
		m.Found += ", descending"
	}
	return m
}

// total says how many rows there are, such as 50 of 312 keys; "" if that isn't known.
func (l *Listing) total(rows int, all int64, atLeast bool) string {
	switch things := english.PluralWord(int(all), l.One, ""); {
	case all == 0:
		return ""
	case all > models.MaxTotal:
		return fmt.Sprintf("%d of more than %s %s", rows, humanize.Comma(models.MaxTotal), things)
	case atLeast:
		return fmt.Sprintf("%d of at least %s %s", rows, humanize.Comma(all), things)
	case int64(rows) < all:
		return fmt.Sprintf("%d of %s %s", rows, humanize.Comma(all), things)
	}
	return english.Plural(rows, l.One, "")
}

// menus are the filters whose values are offered.
func (l *Listing) menus() []ui.Filter {
	var out []ui.Filter
	for _, f := range l.Filters {
		if f.Typed || len(f.Options) == 0 {
			continue
		}
		menu := ui.Filter{Title: f.Title}
		for _, o := range f.Options {
			menu.Options = append(menu.Options, ui.Tab{
				URL:     l.With(f.Name, o.Value),
				Text:    o.Title,
				Current: o.Value == l.Get(f.Name),
			})
		}
		out = append(out, menu)
	}
	return out
}

// columns link each order; the link of the current one reverses it.
func (l *Listing) columns() []ui.Column {
	now, desc := l.order()
	var out []ui.Column
	for _, o := range l.Orders {
		c := ui.Column{ID: o.By, Text: o.Text}
		next := o.Desc
		if o.By == now.By {
			c.Sort, next = "ascending", !desc
			if desc {
				c.Sort = "descending"
			}
		}
		dir := "asc"
		if next {
			dir = "desc"
		}
		c.URL = l.With("sort", o.By, "dir", dir)
		out = append(out, c)
	}
	return out
}

// PagingSize is how many items a page lists if the whole list is loaded. Each takes about 1 KB of HTML.
const PagingSize = 100

// PageOf returns which of count things a page shows, from and to, and how to come to the others. page is the number in
// the query, and at the address of another one; an invalid number selects the first page.
func PageOf(things string, count int, page string, at func(page int) string) (from, to int, p ui.Paging) {
	number, err := strconv.Atoi(page)
	last := max(1, (count+PagingSize-1)/PagingSize)
	if err != nil || number < 1 || number > last {
		number = 1
	}
	from, to = (number-1)*PagingSize, min(number*PagingSize, count)
	p.Things = things
	if last == 1 {
		return from, to, p
	}
	shown := func(n int) string { return humanize.Comma(int64(n)) }
	p.Shown = shown(from+1) + " to " + shown(to) + " of " + shown(count) + " " + things
	if number > 1 {
		p.PrevURL = at(number - 1)
	}
	if number < last {
		p.NextURL = at(number + 1)
	}
	return from, to, p
}

// GroupingList is a list of things that a team has, with a name and a time of creation.
func GroupingList(path, one string) *Listing {
	return &Listing{
		Path:   path,
		One:    one,
		Search: "Name",
		Orders: []ListOrder{{By: "created", Text: "Created"}, {By: "name", Text: "Name"}},
	}
}

// OfTeam is the request for a team's products or tenants.
func (l *Listing) OfTeam(team string) contract.TeamList {
	return contract.TeamList{Page: l.Request(), Sort: l.Sorting(), Text: l.Get("q"), Team: team}
}
