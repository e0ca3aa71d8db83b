// Package verifiers has programs that other people wrote, to check what Postern does without sharing code with it:
//
//   - for SCIM (RFC 7644), the compliance checks of the PyPI package scim2-tester for servers, the schemas of
//     scim2-models for messages, and scim2-server as a receiver of users;
//   - for HTTP message signatures (RFC 9421), the PyPI package http-message-signatures;
//   - for the API's OpenAPI document, a TypeScript client made by npm's openapi-typescript.
//
// They run in processes of Python and Node.js. The packages are listed in requirements.txt and package.json;
// tools/setup installs them next to this file. A test without them fails.
package verifiers

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"postern/testkit"
)

// python returns the command that runs one of the programs next to this file, and what it will complain about.
func python(t testing.TB, program string, arguments ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	here := testkit.Directory("verifiers")
	command := exec.CommandContext(
		t.Context(), filepath.Join(here, "venv", "bin", "python"),
		append([]string{filepath.Join(here, program)}, arguments...)...,
	)
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
	complaints := &bytes.Buffer{}
	command.Stderr = complaints
	return command, complaints
}
