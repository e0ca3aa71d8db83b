package testkit

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// ShellArguments runs lines that are meant to be pasted, in a POSIX shell in which curl, postern and jq print their
// arguments and what they read. It returns both by command; of a pipe from curl to curl it returns the last.
func ShellArguments(t testing.TB, lines string) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	const stub = `#!/bin/sh
out="$OUT/$(basename "$0").args"
case "$1" in -s) out="$OUT/read" ;; esac
printf '%s\0' "$@" >"$out"
case "$*" in *"--file -"*) cat >"$out.input" ;; esac
`
	for _, name := range []string{"curl", "postern", "jq"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(stub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command("sh", "-eu", "-c", lines)
	command.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "OUT=" + dir, "POSTERN_TOKEN=tok"}
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", lines, err, out)
	}
	got := map[string][]string{}
	for _, name := range []string{"curl", "postern", "jq", "postern.input"} {
		file, isInput := strings.CutSuffix(name, ".input")
		file += ".args"
		if isInput {
			file += ".input"
		}
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			continue
		}
		if name == "postern.input" {
			got[name] = []string{string(text)}
			continue
		}
		got[name] = strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	}
	return got
}
