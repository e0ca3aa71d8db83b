// Package golden compares what a test produced with files that are committed, so that a reviewer sees a change of them
// as a diff. `make golden` writes the files again.
//
// It owns the flag, the comparison and the rule that no file is left over. What is compared, and that it is the same in
// every run, is up to the tests. Their names end in _golden: `make golden` runs no others.
package golden

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files instead of comparing with them; see make golden")

const (
	suffix = "_golden"
	advice = "if the change is intended, run make golden and commit the diff"
)

// Update reports whether the test writes its golden files. Only tests that don't compare for equality need it.
func Update(t testing.TB) bool {
	t.Helper()
	if name, _, _ := strings.Cut(t.Name(), "/"); !strings.HasSuffix(name, suffix) {
		t.Fatalf("make golden does not run %s: its name has to end in %s", name, suffix)
	}
	return *update
}

// Compare compares text with the file at path.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if Update(t) {
		write(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v; %s", err, advice)
		return
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-committed +now); %s:\n%s", path, advice, diff)
	}
}

// CompareDir compares files, by their names with slashes, with those below dir. Each has .golden behind its name there.
// Any other file below dir is left over: it fails the test, and an update removes it.
func CompareDir(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	expected := map[string]bool{}
	for name, got := range files {
		path := filepath.Join(dir, filepath.FromSlash(name)+".golden")
		expected[path] = true
		Compare(t, path, got)
	}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || entry.IsDir() || expected[path]:
			return err
		case Update(t):
			return os.Remove(path)
		}
		t.Errorf("%s is left over; %s", path, advice)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
