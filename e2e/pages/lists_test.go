package pages

import (
	"fmt"
	"strings"
	"testing"

	"postern/e2e/harness"
)

// sortedList is a list of four things that the API creates.
type sortedList struct {
	page, api string
	body      string // of what is created
	by        string // the order of the names
	name      string // selector of the name in the first row
}

var sortedLists = map[string]sortedList{
	"tenants":  {"/tenants", "/api/v1/tenants", `{"name": "%s"}`, "name", "tbody tr:first-child th a"},
	"products": {"/products", "/api/v1/products", `{"name": "%s"}`, "name", "tbody tr:first-child th a"},
	"tokens": {
		"/settings/tokens", "/api/v1/tokens", `{"name": "%s", "scopes": ["read"]}`, "name",
		"tbody tr:first-child th span:first-child",
	},
	"webhooks": {
		"/settings/webhooks", "/api/v1/webhooks", `{"url": "http://8.8.8.8/%s"}`, "url",
		"tbody tr:first-child th a",
	},
}

// TestLists sorts and searches lists, with and without scripts: both ways show the same rows, and the address
// follows. axe finds nothing on a searched list.
func TestLists(t *testing.T) {
	t.Parallel()
	server := harness.Start(t)
	axe := axeScript(t)
	p := sit(t)
	p.Open(server.FirstLink)
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Sees("Projects")
	origin := p.evaluates("location.origin")
	for name, list := range sortedLists {
		for _, one := range []string{"mike", "acme", "zulu", "kilo"} {
			options := fmt.Sprintf(`{method: "POST", headers: {"Content-Type": "application/json"}, body: %q}`,
				fmt.Sprintf(list.body, one))
			if got := p.Fetches(list.api, options); got != "201 forwarded" {
				t.Fatalf("create one of the %s: %s", name, got)
			}
		}
	}
	for _, scripts := range []bool{true, false} {
		if !scripts {
			p.ForbidsScripts()
		}
		for name, list := range sortedLists {
			p.sortsAndSearches(origin+list.page, list, scripts)
			if !scripts {
				continue
			}
			if got := p.evaluates("location.search"); got != "?q=acm&dir=desc&sort="+list.by {
				t.Errorf("%s: the address follows with %q", name, got)
			}
			if found := p.violations(axe); found != "" {
				t.Errorf("%s: axe: %s", name, found)
			}
		}
	}
}

func (p *person) sortsAndSearches(page string, list sortedList, scripts bool) {
	p.T.Helper()
	name := func(one string) string {
		if list.by == "url" {
			return "http://8.8.8.8/" + one
		}
		return one
	}
	p.Open(page)
	p.Clicks("#sort-" + list.by)
	p.Waits("th[aria-sort=ascending] #sort-" + list.by)
	p.Clicks("#sort-" + list.by)
	p.Waits("th[aria-sort=descending] #sort-" + list.by)
	if got := p.Reads(list.name); got != name("zulu") {
		p.T.Errorf("%s, scripts %v: %q is first by name, descending", page, scripts, got)
	}
	p.fills("q", "acm")
	if !scripts {
		p.Presses("Search")
	}
	p.Waits("tbody tr:only-child")
	if got := p.Reads(list.name); got != name("acme") {
		p.T.Errorf("%s, scripts %v: the search finds %q", page, scripts, got)
	}
}

// TestLists_audit filters, searches and sorts the audit log, whose form follows the chips, with and without scripts.
func TestLists_audit(t *testing.T) {
	t.Parallel()
	server := harness.Start(t)
	p := sit(t)
	p.Open(server.FirstLink)
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Sees("Projects")
	for _, one := range []string{"mike", "acme", "zulu", "kilo"} {
		options := fmt.Sprintf(`{method: "POST", headers: {"Content-Type": "application/json"}, body: %q}`,
			fmt.Sprintf(`{"name": "%s"}`, one))
		if got := p.Fetches("/api/v1/tenants", options); got != "201 forwarded" {
			t.Fatalf("create the tenant %s: %s", one, got)
		}
	}
	page := p.evaluates("location.origin") + "/audit"
	const action, first = "document.getElementById('audit-action').value", "#audit-list li[id]:first-child p"
	for _, scripts := range []bool{true, false} {
		if !scripts {
			p.ForbidsScripts()
		}
		p.Open(page)
		if scripts {
			p.evaluates(`(() => { const field = document.getElementById('audit-action'); field.value = 'tenant.create';
				field.dispatchEvent(new Event('change', {bubbles: true})); return ''; })()`)
		} else {
			p.Open(page + "?action=tenant.create")
		}
		p.Waits(".chips a[href*='team='], .chips a[href='/audit']")
		p.Clicks("#sort-created")
		p.Waits("#sort-created[aria-current] .sr-only")
		p.Waits("#audit-list [data-announce$='sorted by created']")
		if got := p.Reads(first); !strings.Contains(got, "mike") {
			t.Errorf("scripts %v: %q is the oldest", scripts, got)
		}
		p.fills("q", "zulu")
		if !scripts {
			p.Presses("Filter")
		}
		p.Waits("#audit-list li[id]:only-child")
		if got := p.Reads(first); !strings.Contains(got, "zulu") {
			t.Errorf("scripts %v: the search finds %q", scripts, got)
		}
		p.Clicks("#audit-list .chips a")
		p.Waits("#audit-list:not(:has(.chips[aria-label]))")
		if scripts {
			got := p.evaluates("location.search")
			if !strings.Contains(got, "q=zulu") || strings.Contains(got, "action") {
				t.Errorf("the address follows with %q", got)
			}
			if got := p.evaluates(action); got != "" {
				t.Errorf("the form still says %q", got)
			}
		}
	}
}
