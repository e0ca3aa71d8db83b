package imports_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"postern/bundle"
)

var ofTenant = regexp.MustCompile(`^tenants/[^/]+/`)

// isDocument reports whether a file of a zip is not generated from other files.
func isDocument(name string) bool {
	return name == "project-config.json" || name == "auth/refused.json" || name == bundle.RelationsFile ||
		strings.HasPrefix(name, "tenants/") &&
			(strings.HasSuffix(name, ".json") || strings.HasSuffix(name, ".jsonl")) &&
			!strings.Contains(name, "/scim/")
}

// compareDocuments adds the members that differ between the documents of two zips to changed.
func compareDocuments(t *testing.T, a, b []byte, changed map[string]bool) {
	t.Helper()
	x, y := unpack(t, a), unpack(t, b)
	for name, text := range x {
		if !isDocument(name) {
			continue
		}
		generic := ofTenant.ReplaceAllString(name, "tenants/*/")
		if strings.HasSuffix(name, ".jsonl") {
			if text != y[name] {
				changed[generic] = true
			}
			continue
		}
		var from, to any
		if json.Unmarshal([]byte(text), &from) != nil || json.Unmarshal([]byte(y[name]), &to) != nil {
			t.Errorf("%s isn't JSON in both zips", name)
			continue
		}
		compareMembers(generic+" ", from, to, changed)
	}
}

// compareMembers adds the pointers of the members that differ, with * for positions.
func compareMembers(at string, a, b any, changed map[string]bool) {
	switch x := a.(type) {
	case map[string]any:
		y, _ := b.(map[string]any)
		for name := range x {
			if _, have := y[name]; have {
				compareMembers(at+"/"+name, x[name], y[name], changed)
			} else {
				changed[at+"/"+name] = true
			}
		}
		for name := range y {
			if _, have := x[name]; !have {
				changed[at+"/"+name] = true
			}
		}
	case []any:
		y, _ := b.([]any)
		if len(x) != len(y) {
			changed[at] = true
			return
		}
		for i := range x {
			compareMembers(at+"/*", x[i], y[i], changed)
		}
	default:
		if fmt.Sprint(a) != fmt.Sprint(b) {
			changed[at] = true
		}
	}
}

// documented returns the members that docs/import.md lists.
func documented(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../docs/import.md")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	row := regexp.MustCompile("(?m)^\\| `([^`]+\\.json)` \\| `([^`]+)` \\|$")
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		out = append(out, found[1]+" "+found[2])
	}
	slices.Sort(out)
	return out
}
