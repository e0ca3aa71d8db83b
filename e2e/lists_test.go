package e2e

import (
	"os"
	"testing"
)

// TestLists sorts and searches a list, with and without scripts: both ways show the same rows, and the address
// follows. axe finds nothing on the searched list.
func TestLists(t *testing.T) {
	t.Parallel()
	server := start(t, "")
	axe, err := os.ReadFile("../node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v: run tools/setup", err)
	}
	p := sit(t)
	p.open(server.FirstLink)
	p.types("email", "ana@example.com")
	p.types("name", "Ana")
	p.types("password", "four unrelated words")
	p.presses("Create account and sign in")
	p.sees("Projects")
	origin := p.evaluates("location.origin")
	for _, name := range []string{"mike", "acme", "zulu"} {
		p.open(origin + "/tenants")
		p.clicks("summary:has(+ form #tenant-name)")
		p.types("name", name)
		p.presses("Create tenant")
		p.sees(name)
	}
	for _, scripts := range []bool{true, false} {
		if !scripts {
			p.forbidsScripts()
		}
		p.open(origin + "/tenants")
		p.clicks("#sort-name")
		p.waits("th[aria-sort=ascending] #sort-name")
		p.clicks("#sort-name")
		p.waits("th[aria-sort=descending] #sort-name")
		if got := p.reads("tbody tr:first-child th a"); got != "zulu" {
			t.Errorf("scripts %v: %q is first by name, descending", scripts, got)
		}
		p.fills("q", "acm")
		if !scripts {
			p.presses("Search")
		}
		p.waits("tbody tr:only-child")
		if got := p.reads("tbody tr th a"); got != "acme" {
			t.Errorf("scripts %v: the search finds %q", scripts, got)
		}
		if !scripts {
			break
		}
		if got := p.evaluates("location.search"); got != "?q=acm&dir=desc&sort=name" {
			t.Errorf("the address follows with %q", got)
		}
		if found := p.violations(string(axe)); found != "" {
			t.Errorf("axe: %s", found)
		}
	}
}
