package golden_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/testkit/golden"
)

// recorder is a test whose errors are recorded.
type recorder struct {
	testing.TB
	name   string
	errors []string
}

func (r *recorder) Name() string              { return r.name }
func (r *recorder) Helper()                   {}
func (r *recorder) Error(args ...any)         { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }
func (r *recorder) Fatalf(f string, a ...any) { r.Errorf(f, a...) }

func compare(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	r := &recorder{TB: t, name: "TestX_golden/case"}
	golden.CompareDir(r, dir, files)
	return strings.Join(r.errors, "\n")
}

func set(t *testing.T, value string) {
	t.Helper()
	if err := flag.Set("update", value); err != nil {
		t.Fatal(err)
	}
}

func TestCompareDir(t *testing.T) {
	before := flag.Lookup("update").Value.String()
	t.Cleanup(func() { set(t, before) })
	dir := filepath.Join(t.TempDir(), "zip")
	first := map[string]string{"a.txt": "one\ntwo\n", "b/c.txt": "three\n"}
	set(t, "true")
	if got := compare(t, dir, first); got != "" {
		t.Fatalf("writing the files: %s", got)
	}
	set(t, "false")
	for name, tt := range map[string]struct {
		files map[string]string
		want  []string // parts of the errors
	}{
		"the same":  {first, nil},
		"changed":   {map[string]string{"a.txt": "one\n2\n", "b/c.txt": "three\n"}, []string{"a.txt.golden", "two"}},
		"new":       {map[string]string{"a.txt": "one\ntwo\n", "b/c.txt": "three\n", "d": ""}, []string{"d.golden"}},
		"left over": {map[string]string{"a.txt": "one\ntwo\n"}, []string{"c.txt.golden is left over"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := compare(t, dir, tt.files)
			if (got == "") != (tt.want == nil) {
				t.Errorf("errors %q, want some with %q", got, tt.want)
			}
			for _, part := range tt.want {
				if !strings.Contains(got, part) {
					t.Errorf("errors %q, want %q in them", got, part)
				}
			}
		})
	}
	set(t, "true")
	if got := compare(t, dir, map[string]string{"a.txt": "1\n"}); got != "" {
		t.Fatalf("writing the files again: %s", got)
	}
	if _, err := os.Stat(filepath.Join(dir, "b", "c.txt.golden")); !os.IsNotExist(err) {
		t.Errorf("an update leaves the file that is left over: %v", err)
	}
}

func TestUpdate_name(t *testing.T) {
	for name, refused := range map[string]bool{
		"TestX_golden": false, "TestX_golden/a": false, "TestX": true, "TestX/a_golden": true,
	} {
		r := &recorder{TB: t, name: name}
		golden.Update(r)
		if got := len(r.errors) > 0; got != refused {
			t.Errorf("%s is refused: %v, want %v", name, got, refused)
		}
	}
}
