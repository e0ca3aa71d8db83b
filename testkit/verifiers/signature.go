package verifiers

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"testing"
)

// SignedRequest is a request as its recipient got it.
type SignedRequest struct {
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

// VerifySignature verifies the one signature of a request (RFC 9421), which must be at most a minute old.
func VerifySignature(t testing.TB, r SignedRequest) (Signature, error) {
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
	command, complaints := python(t, "verify_signature.py")
	command.Stdin = bytes.NewReader(given)
	out, err := command.Output()
	if err != nil {
		t.Fatalf("run http-message-signatures: %v (run tools/setup)\n%s", err, complaints.String())
	}
	var answer struct {
		Signature
		Error string `json:"error"`
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatalf("verify_signature.py wrote %q: %v", out, err)
	}
	if answer.Error != "" {
		return Signature{}, errors.New(answer.Error)
	}
	return answer.Signature, nil
}
