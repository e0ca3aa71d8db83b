// Package docs_test keeps docs/configuration.md equal to the code: `make golden` rewrites it.
package docs_test

import (
	"os"
	"strings"
	"testing"

	"postern/platform/config"
	"postern/testkit/golden"
)

func TestMarkdown_golden(t *testing.T) {
	const path, begin, end = "../../docs/configuration.md", "<!-- generated: configuration -->\n", "<!-- end -->"
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("docs/configuration.md has no part between %q and %q", strings.TrimSpace(begin), end)
	}
	golden.Compare(t, path, before+begin+config.Markdown()+end+after)
}
