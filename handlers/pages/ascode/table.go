package ascode

import (
	"maps"
	"net/url"
	"slices"
	"time"
)

// Page has the calls that read what a page shows.
type Page struct {
	Reads []Call
	None  string // why nothing can be read or changed from a shell, "" if something can
}

// Readers parse the fields whose text has its own syntax, as the forms' handlers do. They leave out values that they
// can't parse.
type Readers struct {
	Rules      func(text string) any // the value of rules in the body of set-rules
	Transforms func(text string) any // the body of set-transforms

	// KeyPlaces returns the value of requests_auth.api_key.in, and each place in the form of --key-in.
	KeyPlaces func(form url.Values) (places any, lines []string)
	// Issuers returns the value of allowed_pairs, and each pair in the form of --token-issuer.
	Issuers func(form url.Values) (pairs any, lines []string)
	// Endpoint returns requests_auth.opaque, and its value of --introspection; "" for none.
	Endpoint func(form url.Values) (opaque *Object, line string)
	// Usage returns since when the page of usage counts calls, and by what it groups them.
	Usage func(query url.Values) (from time.Time, by []string)
}

// Table has the pages and forms of the dashboard by their routes. The operations and commands
// are those that cmd/postern/reachable_table_internal_test.go relates to the routes.
type Table struct {
	Pages map[string]Page
	Forms map[string][]Call // the first that fits what was filled in; none for what only a browser can do

	pages routes[Page]
	forms routes[[]Call]
}

// NewTable returns the table.
func NewTable(read Readers) Table {
	t := Table{Pages: map[string]Page{}, Forms: map[string][]Call{}}
	for _, pages := range []map[string]Page{
		accountPages, projectPages, usagePages(read), versionPages, keyPages, loginPages, tenantPages,
	} {
		maps.Copy(t.Pages, pages)
	}
	for _, forms := range []map[string][]Call{
		accountForms, settingsForms, projectForms, placeForms, versionForms(read), upstreamForms, keyForms, loginForms,
		tenantForms, userForms,
	} {
		maps.Copy(t.Forms, forms)
	}
	t.pages, t.forms = newRoutes(t.Pages), newRoutes(t.Forms)
	return t
}

// Page returns what a page shows, with the parameters of its path.
func (t Table) Page(path string) (Page, map[string]string) {
	found, params := t.pages.match(path)
	if found == nil {
		return Page{}, nil
	}
	page := found.of
	page.Reads = slices.DeleteFunc(slices.Clone(page.Reads), func(one Call) bool {
		return one.When != nil && !one.When(valuesOf(params))
	})
	return page, params
}

func valuesOf(params map[string]string) url.Values {
	out := url.Values{}
	for name, value := range params {
		out.Set(name, value)
	}
	return out
}

// Fields returns the names of the fields of a form that its lines depend on.
func (t Table) Fields(route string) []string {
	var names []string
	for _, call := range t.Forms[route] {
		for _, f := range slices.Concat(call.Fields, call.Query) {
			if f.Name != "" {
				names = append(names, f.Name)
			}
			names = append(names, f.with...)
		}
	}
	return names
}

// FormCall is the call that a form makes.
type FormCall struct {
	Call
	Params map[string]string // of the path
	Kind   string            // the same for all forms that differ in their parameters and values alone
}

// Form returns what a form that is filled in with values does. ok is false if there are no lines for it.
func (t Table) Form(action string, values url.Values) (call FormCall, ok bool) {
	found, params := t.forms.match(action)
	if found == nil {
		return FormCall{}, false
	}
	for _, one := range found.of {
		if one.When == nil || one.When(values) {
			return FormCall{Call: one, Params: params, Kind: found.pattern + " " + one.Operation}, true
		}
	}
	return FormCall{}, false
}

// reads is a page that shows what one operation returns, and one command prints.
func reads(operation, command string, query ...Field) Page {
	return Page{Reads: []Call{{Operation: operation, Command: command, Query: query}}}
}

// and adds what a page shows next to the first.
func (p Page) and(operation, command string, query ...Field) Page {
	p.Reads = append(p.Reads, Call{Operation: operation, Command: command, Query: query})
	return p
}

// nothing is a page that a shell has no use for.
func nothing(why string) Page { return Page{None: why} }

// does is a form that does the same as one operation and one command.
func does(operation, command string, fields ...Field) []Call {
	return []Call{{Operation: operation, Command: command, Fields: fields}}
}

// is reports whether a field has a value.
func is(name, value string) func(url.Values) bool {
	return func(form url.Values) bool { return form.Get(name) == value }
}

// has reports whether a field is filled in.
func has(name string) func(url.Values) bool {
	return func(form url.Values) bool { return form.Get(name) != "" }
}
