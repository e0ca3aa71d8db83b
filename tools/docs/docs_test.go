// Package docs_test keeps the pages that are made from the code equal to it:
// `go test ./tools/docs -update` writes them anew.
package docs_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle/targets"
	"postern/config"
)

var update = flag.Bool("update", false, "write the generated pages")

func TestSupportMatrixIsMadeFromTheTargets(t *testing.T) {
	compare(t, "../../docs/support-matrix.md", func(string) string {
		return targets.Matrix()
	})
}

func TestReadmeHasTheConfiguration(t *testing.T) {
	const begin, end = "<!-- generated: configuration -->\n", "<!-- end -->"
	compare(t, "../../README.md", func(page string) string {
		before, rest, found := strings.Cut(page, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("README.md has no part between %q and %q", strings.TrimSpace(begin), end)
		}
		return before + begin + config.Markdown() + end + after
	})
}

// compare fails when a page is not what made makes of it, or writes it.
func compare(t *testing.T, path string, made func(page string) string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil && !(*update && os.IsNotExist(err)) {
		t.Fatal(err)
	}
	want := made(string(content))
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, string(content)); diff != "" {
		t.Errorf("run `go test ./tools/docs -update` (-code +page):\n%s", diff)
	}
}
