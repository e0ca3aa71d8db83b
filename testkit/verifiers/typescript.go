package verifiers

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"postern/testkit"
)

// RunTypeScript generates a client from an OpenAPI document, compiles client.ts, which uses it, and has that call the
// server at the address. It returns what client.ts prints.
func RunTypeScript(t testing.TB, document []byte, address string) string {
	t.Helper()
	source, work := testkit.Directory("verifiers"), t.TempDir()
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
	runIn(t, work, "node_modules/.bin/openapi-typescript", "openapi.json", "--output", "api.d.ts")
	runIn(t, work, "node_modules/.bin/tsc", "--strict", "--noUncheckedIndexedAccess", "--target", "es2022", "--module",
		"nodenext", "client.ts")
	return runIn(t, work, "node", "client.js", address)
}

func runIn(t testing.TB, dir, program string, args ...string) string {
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
