package terminal

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenInput checks that files, pipes and standard input can be read at any place and again.
func TestOpenInput(t *testing.T) {
	dir := t.TempDir()
	temporary := filepath.Join(dir, "tmp")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", temporary)
	file := filepath.Join(dir, "keys.csv")
	if err := os.WriteFile(file, []byte("owner,key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct{ path, name string }{
		file: {file, "keys.csv"},
		"-":  {StandardInput, StandardInput},
	} {
		in, err := OpenInput(strings.NewReader("owner,key"), path, 9)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		for range 2 {
			text, err := io.ReadAll(io.NewSectionReader(in, 6, in.Size))
			if err != nil || string(text) != "key" {
				t.Errorf("%s has %q, %v", path, text, err)
			}
		}
		if in.Path != want.path || in.Name != want.name || in.Size != 9 {
			t.Errorf("%s is %q, %q with %d bytes", path, in.Path, in.Name, in.Size)
		}
		in.Close()
	}
	for path, want := range map[string]string{
		"-":        "standard input is larger than 8 B",
		dir:        dir + " is a directory: specify a file in it",
		dir + "/a": "cannot read " + dir + "/a: no such file or directory",
	} {
		if _, err := OpenInput(strings.NewReader("owner,key"), path, 8); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, err := OpenInputs(strings.NewReader(""), []string{"-", file, "-"}, 0); err == nil {
		t.Error("standard input can be two files")
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v, %v", left, err)
	}
}
