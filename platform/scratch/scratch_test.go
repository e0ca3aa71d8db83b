package scratch_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"postern/platform/scratch"
)

// With this variable set, this test binary creates a file and a directory in the directory that
// it names, and holds them until it is killed.
const holdIn = "SCRATCH_TEST_HOLD_IN"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdIn); dir != "" {
		holdUntilKilled(dir)
	}
	os.Exit(m.Run())
}

func holdUntilKilled(dir string) {
	file, err := scratch.File(dir)
	if err != nil {
		panic(err)
	}
	below, _, err := scratch.Dir(dir)
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(below, "postern.db"), []byte("secret"), 0o600); err != nil {
		panic(err)
	}
	fmt.Println(file.Name())
	select {}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	killed := exec.CommandContext(t.Context(), os.Args[0])
	killed.Env = append(os.Environ(), holdIn+"="+dir)
	killed.Stderr = os.Stderr
	out, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	if !bufio.NewScanner(out).Scan() {
		t.Fatal("the other process has no file")
	}
	for _, name := range []string{"postern.db", "notes.part", ".postern"} { // those of others
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ours, err := scratch.File(dir)
	if err != nil {
		t.Fatal(err)
	}
	if removed, err := scratch.Sweep(dir); len(removed) != 0 || err != nil {
		t.Errorf("while their processes run: removed %q, %v", removed, err)
	}
	_ = killed.Process.Kill()
	_ = killed.Wait()
	if removed, err := scratch.Sweep(dir); len(removed) != 2 || err != nil {
		t.Errorf("of the killed process: removed %q, %v; want a file and a directory", removed, err)
	}
	if err := scratch.Place(ours, filepath.Join(dir, "placed")); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := []string{".postern", "notes.part", "placed", "postern.db"}; !slices.Equal(left, want) {
		t.Errorf("the directory has %q, want %q", left, want)
	}
}

func TestSweep_missing(t *testing.T) {
	if removed, err := scratch.Sweep(filepath.Join(t.TempDir(), "none")); len(removed) != 0 || err != nil {
		t.Errorf("removed %q, %v", removed, err)
	}
}
