package ui

import (
	"cmp"
	"strings"

	"github.com/a-h/templ"
)

// List is a list that can be searched, filtered and sorted by links and a form with the
// method GET, which work without a script; htmx swaps the list alone where scripts run.
type List struct {
	Action  string   // path of the page
	Prefix  string   // of the names in the query, such as sessions_, on pages with several lists
	Form    string   // id of the page's own form for its filters, which follows what the list is narrowed to
	Things  string   // what is listed, such as tenants
	Search  string   // what the search looks in, such as name; "" for lists without a search
	Text    string   // that is searched for
	Kept    []Hidden // the rest of the query, which a search keeps
	Columns []Column
	Bar     bool // it is long enough for SortChips
	Filters []Filter
	Chips   []Chip   // the filters in force
	Unknown []string // what the address asks for and the list does not offer, such as `sort "price"`
	Found   string   // such as "12 tenants, sorted by name", for screen readers
	Total   string   // such as "50 of 312 tenants", "" where that is not known
	// Searched is how far a search got that has not read the whole list, such as "Searched 20,000 entries."; "" for
	// others. MoreURL leads on.
	Searched string
	// ClearURL shows everything in the same order; "" while nothing is hidden.
	ClearURL string
	FirstURL string // "" on the first page
	MoreURL  string // "" on the last
}

// Column is the head of a column.
type Column struct {
	ID    string // of the link, so that it keeps the focus
	Text  string
	Class string
	URL   string // sorts by it, or the other way round; "" for a column without an order
	Sort  string // aria-sort: ascending, descending, or "" while the list has another order

	list List
}

// Filter is a menu of values, each of which is a link.
type Filter struct {
	Title   string
	Options []Tab
}

// Chip is a filter in force.
type Chip struct {
	Text string // such as "State: frozen"
	URL  string // of the list without it
}

// Filtered reports whether the list hides rows.
func (l List) Filtered() bool { return l.ClearURL != "" }

// Column finds the head of a column by its id; one that is not offered cannot be sorted by.
func (l List) Column(id, text, class string) Column {
	for _, c := range l.Columns {
		if c.ID == id {
			c.Text, c.Class, c.list = text, class, l
			return c
		}
	}
	return Column{Text: text, Class: class}
}

// id is the id of a part of the list, which no other list of the page has.
func (l List) id(part string) string {
	return strings.TrimSuffix(cmp.Or(l.Prefix, "list_"), "_") + "-" + part
}

// linkID is the id of a link, so that it keeps the focus when the list is swapped.
func (l List) linkID(to string) string { return strings.TrimPrefix(l.id(to), "list-") }

// swap are the attributes of what shows the list in another state, at url.
func (l List) swap(url string) templ.Attributes {
	path, _, _ := strings.Cut(url, "#") // htmx would scroll there
	along := CodeReads
	if l.Form != "" {
		along += ",#" + l.Form
	}
	return templ.Attributes{
		"hx-get":    path,
		"hx-target": "#" + l.id("found"),
		"hx-select": "#" + l.id("found"),
		"hx-swap":   "outerHTML",
		"data-list": l.Prefix,

		"hx-select-oob": along,
	}
}

// placeholder names what the search looks in.
func (l List) placeholder() string {
	return "Search by " + strings.ToLower(l.Search[:1]) + l.Search[1:]
}

// narrowedTo says what nothing in the list matches.
func (l List) narrowedTo() string {
	var parts []string
	if l.Text != "" {
		parts = append(parts, "“"+l.Text+"”")
	}
	for _, c := range l.Chips {
		parts = append(parts, c.Text)
	}
	text := "No results for " + strings.Join(parts, ", ")
	if l.Searched != "" {
		return text + " so far. " + l.Searched
	}
	return text + "."
}

// ignored names the parts of the URL that the list can't follow.
func (l List) ignored() Notice {
	return Notice{Tone: Warn, Text: "Ignored invalid filters or sort orders: " +
		strings.Join(l.Unknown, ", ") + "."}
}

// more is the text of the link to the next page.
func (l List) more() string {
	if l.Searched != "" {
		return "Search more " + l.Things
	}
	return "More " + l.Things
}

// FormSwap are the attributes of the page's own form for the filters of the list, which swaps the rows. search is the
// id of its field that is followed while the user types.
func (l List) FormSwap(search string) templ.Attributes {
	return templ.Attributes{
		"id":            l.Form,
		"hx-get":        l.Action,
		"hx-trigger":    "change, submit, input delay:250ms from:find #" + search,
		"hx-sync":       "this:replace",
		"hx-target":     "#" + l.id("found"),
		"hx-select":     "#" + l.id("found"),
		"hx-swap":       "outerHTML",
		"hx-select-oob": CodeReads,
		"data-filters":  "",
	}
}
