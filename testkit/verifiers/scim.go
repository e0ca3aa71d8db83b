package verifiers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// SCIMResult is the outcome of one check, which may run several times.
type SCIMResult struct {
	Status   string // SUCCESS, COMPLIANT, ACCEPTABLE, DEVIATION, ERROR, CRITICAL or SKIPPED
	Check    string // the tester's function
	Resource string // User or Group; "" for checks of neither
	Reason   string
}

// CheckSCIM checks the server at url with an access token. A test without the packages fails.
func CheckSCIM(t testing.TB, url, token string) []SCIMResult {
	t.Helper()
	command, complaints := python(t, "check_scim.py", url)
	command.Env = append(command.Env, "SCIM_TOKEN="+token)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run scim2-tester: %v (run tools/setup)\n%s", err, complaints.String())
	}
	var list []SCIMResult
	for line := range bytes.Lines(out) {
		var one SCIMResult
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatalf("scim2-tester wrote %q: %v", line, err)
		}
		list = append(list, one)
	}
	return list
}

// ValidateSCIM returns what is wrong with a message, "" if nothing is. kind is users or groups,
// a list of either as a server answers it, or bulk, a bulk request.
func ValidateSCIM(t testing.TB, kind string, message []byte) string {
	t.Helper()
	command, complaints := python(t, "validate_scim.py", kind)
	command.Stdin = bytes.NewReader(message)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run scim2-models: %v (run tools/setup)\n%s", err, complaints.String())
	}
	return string(out)
}

// ReceiveSCIM starts a SCIM server that is empty and takes the access token. It returns its URL.
// It ends with the test.
func ReceiveSCIM(t testing.TB, token string) string {
	t.Helper()
	command, complaints := python(t, "receive_scim.py")
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
