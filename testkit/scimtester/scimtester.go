// Package scimtester has SCIM programs that other people wrote, for tests: the compliance
// checks of the PyPI package scim2-tester for servers, the schemas of scim2-models for
// messages, and scim2-server as a receiver of users.
//
// They run in Python processes. The packages are listed in requirements.txt; tools/setup
// installs them into a virtual environment next to it.
package scimtester

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postern/testkit"
)

// python returns the command that runs one of the programs next to this file.
func python(t testing.TB, program, argument string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	here := testkit.Directory("scimtester")
	command := exec.CommandContext(
		t.Context(), filepath.Join(here, "venv", "bin", "python"), filepath.Join(here, program), argument,
	)
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "PYTHONUTF8=1")
	complaints := &bytes.Buffer{}
	command.Stderr = complaints
	return command, complaints
}

// Result is the outcome of one check, which may run several times.
type Result struct {
	Status   string // SUCCESS, COMPLIANT, ACCEPTABLE, DEVIATION, ERROR, CRITICAL or SKIPPED
	Check    string // the tester's function
	Resource string // User or Group; "" for checks of neither
	Reason   string
}

// Run checks the server at url with an access token. A test without the packages fails.
func Run(t testing.TB, url, token string) []Result {
	t.Helper()
	command, complaints := python(t, "check.py", url)
	command.Env = append(command.Env, "SCIM_TOKEN="+token)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run scim2-tester: %v (run tools/setup)\n%s", err, complaints.String())
	}
	var list []Result
	for line := range bytes.Lines(out) {
		var one Result
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("scim2-tester wrote %q: %v", line, err)
		}
		list = append(list, one)
	}
	return list
}

// Validate returns what is wrong with a message, "" if nothing is. kind is users or groups,
// a list of either as a server answers it, or bulk, a bulk request.
func Validate(t testing.TB, kind string, message []byte) string {
	t.Helper()
	command, complaints := python(t, "validate.py", kind)
	command.Stdin = bytes.NewReader(message)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run scim2-models: %v (run tools/setup)\n%s", err, complaints.String())
	}
	return string(out)
}

// Receive starts a SCIM server that is empty and takes the access token. It returns its URL.
// It ends with the test.
func Receive(t testing.TB, token string) string {
	t.Helper()
	command, complaints := python(t, "receive.py", "")
	command.Env = append(command.Env, "SCIM_TOKEN="+token)
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start scim2-server: %v (run tools/setup)", err)
	}
	lines := bufio.NewReader(output)
	url, err := lines.ReadString('\n')
	t.Cleanup(func() {
		_ = input.Close() // which ends it
		_, _ = io.Copy(io.Discard, lines)
		_ = command.Wait()
	})
	if err != nil {
		_ = input.Close()
		_ = command.Wait()
		t.Fatalf("scim2-server did not start (run tools/setup): %v\n%s", err, complaints.String())
	}
	return strings.TrimSpace(url)
}
