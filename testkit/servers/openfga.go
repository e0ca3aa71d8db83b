package servers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"testing"

	"postern/testkit"
	"postern/testkit/ports"
)

// OpenFGA is a running OpenFGA with its store in memory. Its version is the one of the image in the exported compose
// file.
type OpenFGA struct {
	URL string // of its HTTP API

	t       testing.TB
	token   string
	process *exec.Cmd
}

// OpenFGAVersion returns the server's version, such as v1.2.3.
func OpenFGAVersion() string { return version("openfga") }

// StartOpenFGA runs a server until the test ends. With a token, the server asks for it as a preshared key.
// Without the program, the test fails.
func StartOpenFGA(t testing.TB, token string) *OpenFGA {
	t.Helper()
	api, grpc := ports.Address(t), ports.Address(t)
	s := &OpenFGA{URL: "http://" + api, t: t, token: token}
	args := []string{
		"run", "--http-addr", api, "--grpc-addr", grpc, "--playground-enabled=false", "--metrics-enabled=false",
		"--log-level=error",
	}
	if token != "" {
		args = append(args, "--authn-method=preshared", "--authn-preshared-keys="+token)
	}
	command := exec.Command(program(t, "openfga"), args...)
	var output testkit.LogBuffer
	command.Stdout, command.Stderr = &output, &output
	endWithTests(command)
	if err := command.Start(); err != nil {
		t.Fatalf("start openfga: %v (run tools/setup)", err)
	}
	s.process = command
	t.Cleanup(func() {
		s.Stop()
		if t.Failed() {
			t.Logf("openfga wrote:\n%s", output.String())
		}
	})
	testkit.Eventually(t, "an answer of openfga", func() bool {
		status, _ := s.try(http.MethodGet, "/healthz", nil)
		return status == http.StatusOK
	})
	return s
}

// Stop ends the server as a crash would.
func (s *OpenFGA) Stop() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

// try sends a request with body as JSON. The status is 0 without an answer.
func (s *OpenFGA) try(method, path string, body any) (status int, answer []byte) {
	s.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+path, bytes.NewReader(text))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return resp.StatusCode, answer
}

// ask sends a request that must succeed, and reads the answer.
func (s *OpenFGA) ask(method, path string, body, into any) {
	s.t.Helper()
	status, answer := s.try(method, path, body)
	if status != http.StatusOK {
		s.t.Fatalf("%s %s of openfga answers %d: %s", method, path, status, answer)
	}
	if err := json.Unmarshal(answer, into); err != nil {
		s.t.Fatalf("%s %s of openfga answers %s: %v", method, path, answer, err)
	}
}

// Stores returns the ids of the stores of a name.
func (s *OpenFGA) Stores(name string) []string {
	s.t.Helper()
	var page struct{ Stores []struct{ ID string } }
	s.ask(http.MethodGet, "/stores?name="+url.QueryEscape(name), nil, &page)
	var ids []string
	for _, one := range page.Stores {
		ids = append(ids, one.ID)
	}
	return ids
}

// Tuple is a relationship.
type Tuple struct {
	User     string `json:"user"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
}

// Check asks whether a relationship holds, with tuples of this question alone.
func (s *OpenFGA) Check(store string, asked Tuple, with ...Tuple) bool {
	s.t.Helper()
	var answer struct{ Allowed bool }
	s.ask(http.MethodPost, "/stores/"+store+"/check", map[string]any{
		"tuple_key": asked, "contextual_tuples": map[string]any{"tuple_keys": with},
	}, &answer)
	return answer.Allowed
}

// Delete deletes a tuple.
func (s *OpenFGA) Delete(store string, one Tuple) {
	s.t.Helper()
	s.ask(http.MethodPost, "/stores/"+store+"/write", map[string]any{
		"deletes": map[string]any{"tuple_keys": []Tuple{one}},
	}, &struct{}{})
}

// Count returns how many tuples a store has.
func (s *OpenFGA) Count(store string) int {
	s.t.Helper()
	count, next := 0, ""
	for {
		var page struct {
			Tuples []struct{}
			Next   string `json:"continuation_token"`
		}
		s.ask(http.MethodPost, "/stores/"+store+"/read", map[string]any{
			"page_size": 100, "continuation_token": next,
		}, &page)
		count += len(page.Tuples)
		if next = page.Next; next == "" {
			return count
		}
	}
}

// Has reports whether a store has a tuple.
func (s *OpenFGA) Has(store string, one Tuple) bool {
	s.t.Helper()
	var page struct{ Tuples []struct{} }
	s.ask(http.MethodPost, "/stores/"+store+"/read", map[string]any{"tuple_key": one}, &page)
	return len(page.Tuples) > 0
}

func (t Tuple) String() string { return fmt.Sprintf("%s %s %s", t.User, t.Relation, t.Object) }
