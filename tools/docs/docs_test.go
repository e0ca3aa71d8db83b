// Package docs_test keeps docs/configuration.md equal to the code: `go test ./tools/docs -update` rewrites it.
package docs_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/platform/config"
)

var update = flag.Bool("update", false, "write the generated part of docs/configuration.md")

func TestTheConfigurationPageIsCurrent(t *testing.T) {
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
	want := before + begin + config.Markdown() + end + after
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
