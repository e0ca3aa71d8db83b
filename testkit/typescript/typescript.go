// Package typescript makes a client of an OpenAPI document with npm's openapi-typescript, compiles a program that uses
// it, and runs the program. The npm packages come from `npm ci` in this directory, which tools/setup runs.
package typescript

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"postern/testkit"
)

// Run has client.ts call the server at an address, whose OpenAPI document is given, and returns what it prints.
func Run(t testing.TB, document []byte, address string) string {
	t.Helper()
	source, work := testkit.Directory("typescript"), t.TempDir()
	packages := filepath.Join(source, "node_modules")
	for _, name := range []string{"package.json", "client.ts"} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(work, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(work, "openapi.json"), document, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(packages, filepath.Join(work, "node_modules")); err != nil {
		t.Fatal(err)
	}
	run(t, work, "node_modules/.bin/openapi-typescript", "openapi.json", "--output", "api.d.ts")
	run(t, work, "node_modules/.bin/tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module",
		"nodenext", "client.ts")
	return run(t, work, "node", "client.js", address)
}

func run(t testing.TB, dir, program string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	if filepath.Dir(program) != "." {
		command.Path = filepath.Join(dir, program)
	}
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v (run tools/setup)\n%s", filepath.Base(program), err, out)
	}
	return string(out)
}
