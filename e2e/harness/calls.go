package harness

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"postern/testkit"
)

// Send sends a request to the server under test. The caller closes the body of the answer.
func Send(t testing.TB, method, address, contentType, body string) *http.Response {
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

// CallsAnswer calls the gateway with the key and without any.
func CallsAnswer(t *testing.T, address, key string, with, without int) {
	t.Helper()
	for sent, want := range map[string]int{key: with, "": without} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/hello", nil)
		if err != nil {
			t.Fatal(err)
		}
		if sent != "" {
			r.Header.Set("X-API-Key", sent)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a call with key %q: %d, want %d", sent, answer.StatusCode, want)
		}
	}
}

// WaitForStatus calls until the answer has the status. A call whose key is refused while it is under way may
// be cut off, and says nothing then.
func WaitForStatus(t *testing.T, address, key string, want int) {
	t.Helper()
	testkit.Await(t, fmt.Sprintf("%d from %s", want, address), func() (int, bool) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-API-Key", key)
		answer, err := http.DefaultClient.Do(r)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
			return 0, false
		case err != nil:
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode, answer.StatusCode == want
	})
}
