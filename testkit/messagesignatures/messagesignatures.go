// Package messagesignatures verifies signatures of requests (RFC 9421) with the PyPI package
// http-message-signatures, for tests: code that shares nothing with the gateway's.
//
// It runs in a Python process of its own. Its packages are listed in requirements.txt;
// tools/setup installs them into a virtual environment next to it.
package messagesignatures

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"postern/testkit"
)

// Request is a request as its recipient got it.
type Request struct {
	Method string
	URL    string // absolute; the path and query byte for byte
	Header http.Header
	Keys   json.RawMessage // a JSON Web Key Set
	Tag    string          // that the signature must have
}

// Signature is a signature that was verified.
type Signature struct {
	Label      string
	Covered    []string // components, in their order
	Parameters struct {
		Created int64  `json:"created"`
		KeyID   string `json:"keyid"`
		Alg     string `json:"alg"`
		Tag     string `json:"tag"`
	}
}

// Verify verifies the one signature of a request, which must be at most a minute old. A test
// without the packages fails.
func Verify(t testing.TB, r Request) (Signature, error) {
	t.Helper()
	lines := [][2]string{}
	for name, values := range r.Header {
		for _, value := range values {
			lines = append(lines, [2]string{name, value})
		}
	}
	slices.SortFunc(lines, func(a, b [2]string) int { return bytes.Compare([]byte(a[0]), []byte(b[0])) })
	given, err := json.Marshal(map[string]any{
		"method": r.Method, "url": r.URL, "headers": lines, "keys": r.Keys, "tag": r.Tag,
	})
	if err != nil {
		t.Fatal(err)
	}
	here := testkit.Directory("messagesignatures")
	command := exec.CommandContext(
		t.Context(), filepath.Join(here, "venv", "bin", "python"), filepath.Join(here, "verify.py"),
	)
	command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	var complaints bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(given), &complaints
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run http-message-signatures: %v (run tools/setup)\n%s", err, complaints.String())
	}
	var answer struct {
		Signature
		Error string `json:"error"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("verify.py wrote %q: %v", out, err)
	}
	if answer.Error != "" {
		return Signature{}, errors.New(answer.Error)
	}
	return answer.Signature, nil
}
