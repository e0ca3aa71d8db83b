package ui

import (
	"strings"

	"github.com/a-h/templ"
)

// List is a list that can be searched, filtered and sorted by links and a form with the
// method GET, which work without a script; htmx swaps the list alone where scripts run. The
// page has one of them.
type List struct {
	Action  string   // path of the page
	Things  string   // what is listed, such as tenants
	Search  string   // what the search looks in, such as name; "" for lists without a search
	Text    string   // that is searched for
	Kept    []Hidden // the rest of the query, which a search keeps
	Columns []Column
	Filters []Filter
	Chips   []Chip // the filters in force
	Found   string // such as "12 tenants, sorted by name", for screen readers
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
			c.Text, c.Class = text, class
			return c
		}
	}
	return Column{Text: text, Class: class}
}

// listSwap are the attributes of what shows the list in another state, at url.
func listSwap(url string) templ.Attributes {
	return templ.Attributes{
		"hx-get":    url,
		"hx-target": "#list-found",
		"hx-select": "#list-found",
		"hx-swap":   "outerHTML",
		"data-list": true,

		"hx-select-oob": CodeReads,
	}
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
	return "Nothing matches " + strings.Join(parts, " and ") + "."
}
