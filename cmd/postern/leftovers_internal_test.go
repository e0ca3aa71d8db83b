package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/cmd/internal/terminal"
)

// Every command that writes a temporary file removes what a killed one left where it writes,
// whether it goes on or not, and says so.
func TestLeftovers(t *testing.T) {
	work := t.TempDir()
	inWork := func(name string) string { return filepath.Join(work, name) }
	for _, name := range []string{"tmp", "data", "config", "out"} {
		if err := os.Mkdir(inWork(name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", inWork("tmp"))
	const recipient = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
	passphrase := inWork("passphrase")
	if err := os.WriteFile(passphrase, []byte("correct horse battery"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, in string
		args     []string
	}{
		{"backup", "out", []string{"backup", "-o", inWork("out/a.age"), "--recipient", recipient}},
		{"backup to a pipe", "tmp", []string{"backup", "-o", "-", "--recipient", recipient}},
		{"restore", "data", []string{"restore", inWork("none.age"), "--passphrase-file", passphrase}},
		{"restore --check", "tmp", []string{"restore", inWork("none.age"), "--passphrase-file", passphrase, "--check"}},
		{"export", "out", []string{"export", "shop", "-o", inWork("out/shop.zip")}},
		{"create", "config", []string{"create", "--target", "https://api.example.com"}},
		{"demo", "tmp", []string{"demo"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			left := leave(t, inWork(tt.in))
			var said strings.Builder
			run(t.Context(), tt.args, terminal.Terminal{
				In:  strings.NewReader(""),
				Out: &said,
				Err: &said,
				Environ: []string{
					"POSTERN_DATA_DIR=" + inWork("data"), "POSTERN_CONFIG_DIR=" + inWork("config"),
					"POSTERN_SERVER=http://127.0.0.1:9",
				},
			})
			wantGone(t, left, said.String())
		})
	}
}

// leave leaves a directory with a file as a killed command does, and returns its path.
func leave(t *testing.T, in string) string {
	t.Helper()
	if err := os.MkdirAll(in, 0o700); err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp(in, ".postern-tmp-")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "postern.db"), []byte("secret"), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func wantGone(t *testing.T, path, said string) {
	t.Helper()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v\n%s", path, err, said)
	}
	if !strings.Contains(said, path) {
		t.Errorf("nothing says that %s was removed:\n%s", path, said)
	}
}
