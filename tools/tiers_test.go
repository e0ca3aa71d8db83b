package tools_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestTiers_makeTest: a test that a pattern leaves out is not reported as
// skipped, so nothing would show that `make test` had become `make check`.
func TestTiers_makeTest(t *testing.T) {
	script := read(t, "test")
	for _, flag := range []string{"-skip", "-run", "-short", "-failfast"} {
		if regexp.MustCompile(`\s` + flag + `\b`).MatchString(script) {
			t.Errorf("tools/test calls go test with %s", flag)
		}
	}
	for _, part := range []string{`"$work/withpostgres" go test`, "-count=1", "./... |", "-race"} {
		if !strings.Contains(script, part) {
			t.Errorf("tools/test does not contain %s", part)
		}
	}
}

// TestTiers_makeCheckWithoutPostgres compares the pattern of tools/check with names that
// tests have.
func TestTiers_makeCheckWithoutPostgres(t *testing.T) {
	found := regexp.MustCompile(`(?m)^only_sqlite='(.*)'$`).FindStringSubmatch(read(t, "check"))
	if found == nil {
		t.Fatal("tools/check has no pattern only_sqlite")
	}
	for name, want := range map[string]bool{
		"TestRotate":                           false,
		"TestRotate/sqlite":                    false,
		"TestRotate/postgres":                  true,
		"TestRotate/postgres#01":               true,
		"TestRotate/frozen key/postgres":       true,
		"TestRotate/frozen/key/postgres":       true,
		"TestRotate/a postgres:// URL":         false,
		"TestPostgresOutageIsUnavailable":      true,
		"TestModels_sortOrderOfPostgreSQL":     true,
		"TestPostgresOutageIsUnavailable/some": true,
	} {
		t.Run(name, func(t *testing.T) {
			if got := leftOut(found[1], name); got != want {
				t.Errorf("left out = %v, want %v", got, want)
			}
		})
	}
}

// leftOut reports whether `go test -skip pattern` leaves a test out: each element of
// one alternative, split by slashes, matches the element of the name at its place.
func leftOut(pattern, name string) bool {
	elements := strings.Split(name, "/")
	for alternative := range strings.SplitSeq(pattern, "|") {
		parts := strings.Split(alternative, "/")
		matches := len(parts) <= len(elements)
		for i := 0; matches && i < len(parts); i++ {
			matches = regexp.MustCompile(parts[i]).MatchString(elements[i])
		}
		if matches {
			return true
		}
	}
	return false
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
