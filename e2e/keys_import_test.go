package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
	"postern/testkit/keyfiles"
)

// TestKeysImport imports the file of each source and calls the gateway with the plaintext of each of its keys, those
// that were refused included: counts prove nothing about which keys work.
func TestKeysImport(t *testing.T) {
	t.Parallel()
	server, upstream := harness.Start(t), testkit.NewUpstream(t)
	body := `{"target":"` + upstream.URL + `","name":"shop","product":"orders","tenant":"acme",` +
		`"requests_auth":{"mode":"authenticate"}}`
	answer := harness.Send(t, http.MethodPost, server.Config.PublicURL+"/proxy", "application/json", body)
	defer answer.Body.Close()
	var proxy contract.Proxy
	if err := json.NewDecoder(answer.Body).Decode(&proxy); err != nil || answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s, %v", answer.Status, err)
	}
	for _, file := range keyfiles.All() {
		t.Run(file.Name, func(t *testing.T) { importAndCall(t, server.Config.PublicURL, proxy, file) })
	}
}

func importAndCall(t *testing.T, control string, proxy contract.Proxy, file keyfiles.File) {
	t.Helper()
	if status := sendKeys(t, control, proxy, file, "dry_run=true", nil); file.Code == "" {
		checkCalls(t, proxy, file, func(keyfiles.Key) int { return http.StatusUnauthorized })
	} else if status != http.StatusUnprocessableEntity {
		t.Errorf("a file that is refused gets %d", status)
	}
	var imported contract.KeysImported
	status := sendKeys(t, control, proxy, file, "dry_run=false", &imported)
	if file.Code != "" {
		if status != http.StatusUnprocessableEntity {
			t.Errorf("a file that is refused gets %d", status)
		}
		return
	}
	if status != http.StatusOK {
		t.Fatalf("%d, want 200", status)
	}
	refused := 0
	for _, key := range file.Keys {
		if key.Outcome != keyfiles.Refused {
			continue
		}
		refused++
		if !slices.ContainsFunc(imported.Errors, func(e contract.KeyImportError) bool {
			return e.Row == key.Row && e.Code == key.Code
		}) {
			t.Errorf("row %d wasn't refused with %s: %+v", key.Row, key.Code, imported.Errors)
		}
	}
	if created := int64(len(file.Keys) - refused); imported.Created != created || imported.Refused != int64(refused) {
		t.Errorf("%+v, want %d keys and %d refusals: %+v", imported.KeyImportCounts, created, refused, imported.Errors)
	}
	checkCalls(t, proxy, file, statusOf)
}

// statusOf returns what a call with a key gets after its import.
func statusOf(key keyfiles.Key) int {
	switch key.Outcome {
	case keyfiles.Active:
		return http.StatusOK
	case keyfiles.Frozen:
		return http.StatusForbidden
	}
	return http.StatusUnauthorized
}

// sendKeys imports a file and returns the status of the answer, which is decoded into out.
func sendKeys(
	t *testing.T, control string, proxy contract.Proxy, file keyfiles.File, option string, out *contract.KeysImported,
) int {
	t.Helper()
	query := url.Values{"key_type": {"full"}, "allow_weak": {"true"}}
	for column, field := range file.Map {
		query.Add("map", column+"="+field)
	}
	address := control + "/api/v1/projects/" + proxy.Project.ID + "/keys/import?" + option + "&" + query.Encode()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(string(file.Text(t))))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+proxy.WorkspaceKey.Reveal())
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if out != nil && answer.StatusCode == http.StatusOK {
		if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
			t.Fatal(err)
		}
	}
	return answer.StatusCode
}

// checkCalls calls the gateway with each key of a file that can be sent.
func checkCalls(t *testing.T, proxy contract.Proxy, file keyfiles.File, want func(keyfiles.Key) int) {
	t.Helper()
	for _, key := range file.Keys {
		if key.Plaintext == "" {
			continue
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, proxy.Project.Environments[0].URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-API-Key", key.Plaintext)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.StatusCode; got != want(key) {
			t.Errorf("a call with the key of row %d.%d gets %d, want %d", key.Row, key.Part, got, want(key))
		}
	}
}
