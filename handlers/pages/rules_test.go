package pages_test

import (
	"fmt"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestRules_page(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := newLoginTab(t, db)
	const page = "/projects/shop/versions/1.0.0/rules"
	s.Get(page).Shows(200, "Rules for version 1.0.0").Lacks("table")
	old := s.Get(page).Find("[name=revision]").AttrOr("value", "")
	form := func(revision, lines string) []string {
		return []string{"revision", revision, "default", "deny", "rules_mode", "shadow",
			"read_write_scopes", "true", "rules", lines}
	}
	s.Post(page, form(old, "GET")...).
		Shows(422, "Rules for version 1.0.0").
		Says("#rules-lines-error", "Line 1: Enter methods and a path")
	s.Post(page, form(old, "GET /a color=red")...).Says("#rules-lines-error", "color=red isn't one of")
	s.Post(page,
		form(old, "get /orders/{id} scopes=orders:read\nPOST,PUT /staff groups=staff,ops role=admin "+
			"mode=enforce")...).
		LeadsTo(page)
	s.Get(page).
		Says("[data-flash]", "Saved the rules for shop").
		Says("tbody", "/orders/{id}").
		Says("tbody", "scope orders:read").
		Says("tbody", "admin of staff or ops").
		Says("label:has([name=default][checked])", "Deny").
		Says("#rules-lines", "GET /orders/{id} scopes=orders:read POST,PUT /staff groups=staff,ops role=admin "+
			"mode=enforce")
	s.Post(page, form(old, "GET /new")...).
		Shows(412, "Rules for version 1.0.0").
		Says("main", "changed since you opened").
		Says("#rules-lines", "GET /new")
	now := s.Get(page).Find("[name=revision]").AttrOr("value", "")
	s.Post(page, form(now, "")...).LeadsTo(page)
	s.Get(page).Lacks("table")
	s.Get("/audit").Says("main", "rules of version 1.0.0")
}

// A mistake in a rule is shown at the field, with the number of its line.
func TestRules_mistakes(t *testing.T) {
	t.Parallel()
	s, _ := newLoginTab(t, state.OpenSQLite(t))
	const page = "/projects/shop/versions/1.0.0/rules"
	revision := s.Get(page).Find("[name=revision]").AttrOr("value", "")
	for name, tc := range map[string]struct {
		lines string
		want  []string
	}{
		"wildcard": {
			"GET /orders/* scopes=orders:read\nGET /a",
			[]string{"Line 1: /orders/* contains a wildcard that rules don't support"},
		},
		"no slash": {
			"GET /a\nGET orders",
			[]string{"Line 2: orders doesn't start with a slash. Use a path under the environment's URL, such as " +
				"/orders/{id}."},
		},
		"empty segment": {"GET /orders//x", []string{"Line 1: /orders//x contains an empty segment or a dot segment."}},
		"method":        {"G$T /a", []string{"Line 1: Use a method such as GET"}},
		"role":          {"GET /a groups=staff role=foo", []string{"Line 1: Use member or admin"}},
		"mode":          {"GET /a mode=foo", []string{"Line 1: Use off, shadow or enforce"}},
		"scope":         {"GET /a scopes=a:*", []string{"Line 1: Use a single scope"}},
		"owner": {
			"GET /a/{id} owner=x",
			[]string{"Line 1: x doesn't start with a type (lowercase letters, digits, hyphens and underscores) and a " +
				"colon. Use an object such as order:{id}"},
		},
		"after empty lines": {"\n\nGET /a\n\nGET b", []string{"Line 5: b doesn't start with a slash"}},
		"two lines": {
			"GET a\nGET /b\nGET /c role=foo groups=staff",
			[]string{"Line 1: a doesn't start", "Line 3: Use member or admin"},
		},
		"two unreadable lines": {
			"GET\nGET /b\nGET /c color=red", []string{"Line 1: Enter methods", "Line 3: color=red isn't one of"},
		},
		"many lines": {
			strings.Repeat("GET a\n", 12), []string{"Line 10: a doesn't start", "Other lines also have errors."},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.Post(page, "revision", revision, "default", "allow", "rules_mode", "enforce", "rules", tc.lines).
				Shows(422, "Rules for version 1.0.0").
				Lacks("form > [role=alert]")
			for _, want := range tc.want {
				got.Says("#rules-lines-error", want)
			}
			if got.Find("#rules-lines[aria-invalid=true]").Length() == 0 {
				t.Error("the field isn't marked")
			}
		})
	}
}

// A saved rule that is repeated is refused for its line. Its id, which the page doesn't show, isn't part of the error.
func TestRules_repeatedLine(t *testing.T) {
	t.Parallel()
	s, _ := newLoginTab(t, state.OpenSQLite(t))
	const page = "/projects/shop/versions/1.0.0/rules"
	save := func(lines string) *controlplane.Page {
		return s.Post(page, "revision", s.Get(page).Find("[name=revision]").AttrOr("value", ""), "default", "allow",
			"rules_mode", "enforce", "rules", lines)
	}
	save("GET /c scopes=a").LeadsTo(page)
	for lines, want := range map[string]string{
		"GET /c scopes=a\n\nGET /c scopes=a": "Line 3: GET /c and line 1 (GET /c) match the same calls, and neither " +
			"is more specific. Remove one of them, or change its methods or path.",
		"GET /a/{x}\nGET /c\nGET,PUT /a/{y}": "Line 3: GET,PUT /a/{y} and line 1 (GET /a/{x}) match the same calls",
	} {
		refused := save(lines).Shows(422, "Rules for version 1.0.0").Says("#rules-lines-error", want)
		if text := refused.Find("main").Text(); strings.Contains(text, "rul_") {
			t.Errorf("the page has the id of a rule: %s", text)
		}
	}
	save("GET /b\nGET /c scopes=b").LeadsTo(page)
}

// A page of the most rules that a version can have lists some of them, and leads to the others.
func TestRules_pagesOfMany(t *testing.T) {
	t.Parallel()
	s, _ := newLoginTab(t, state.OpenSQLite(t))
	const page = "/projects/shop/versions/1.0.0/rules"
	var lines strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&lines, "GET /things-%d/{id} scopes=things:read\n", i)
	}
	s.Post(page, "revision", s.Get(page).Find("[name=revision]").AttrOr("value", ""), "default", "allow",
		"rules_mode", "enforce", "rules", lines.String()).LeadsTo(page)
	first := s.Get(page).Says("main", "1 to 100 of 2,000 rules").Says("tbody", "/things-99/{id}")
	next := first.Find("[rel=next]").AttrOr("href", "")
	s.Get(next).Says("main", "101 to 200 of 2,000 rules").Says("tbody", "/things-100/{id}")
	if rows := first.Find("main tbody tr").Length(); rows != 100 {
		t.Errorf("the page lists %d rules", rows)
	}
}
