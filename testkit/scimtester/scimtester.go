// Package scimtester runs the compliance checks of the PyPI package scim2-tester against a
// SCIM server, for tests.
//
// The checks run in a Python process of their own. Its packages are listed in
// requirements.txt; tools/setup installs them into a virtual environment beside it.
package scimtester

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

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
	_, file, _, _ := runtime.Caller(0)
	here := filepath.Dir(file)
	command := exec.CommandContext(
		t.Context(), filepath.Join(here, "venv", "bin", "python"), filepath.Join(here, "check.py"), url,
	)
	command.Env = append(os.Environ(), "SCIM_TOKEN="+token, "PYTHONDONTWRITEBYTECODE=1")
	var complaints bytes.Buffer
	command.Stderr = &complaints
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
