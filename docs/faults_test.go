package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFaults checks that each row of faults.md names tests, and that the repository has them.
func TestFaults(t *testing.T) {
	page, err := os.ReadFile("faults.md")
	if err != nil {
		t.Fatal(err)
	}
	there := tests(t, "..")
	name := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`")
	rows := 0
	proving := false
	for line := range strings.Lines(string(page)) {
		switch {
		case strings.HasPrefix(line, "| Fault |"):
			proving = true
		case !strings.HasPrefix(line, "| "):
			proving = proving && strings.HasPrefix(line, "|")
		case proving:
			rows++
			cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
			if len(cells) != 3 {
				t.Errorf("%d columns, want 3: %s", len(cells), line)
				continue
			}
			named := name.FindAllStringSubmatch(cells[2], -1)
			if len(named) == 0 && !strings.Contains(cells[2], "not tested") {
				t.Errorf("no test proves: %s", cells[0])
			}
			for _, n := range named {
				if !there[n[1]] {
					t.Errorf("%q names %s, which is not a test of this repository", strings.TrimSpace(cells[0]), n[1])
				}
			}
		}
	}
	if rows < 15 {
		t.Errorf("%d rows were read", rows)
	}
}

// tests are the names of all tests below a directory.
func tests(t *testing.T, root string) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	out := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, found := range declared.FindAllSubmatch(text, -1) {
			out[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
