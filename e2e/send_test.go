package e2e

import (
	"net/http"
	"strings"
	"testing"
)

// send sends a request to the server under test. The caller closes the body of the answer.
func send(t testing.TB, method, address, contentType, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}
