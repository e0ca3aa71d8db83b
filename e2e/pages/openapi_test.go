package pages

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/app"
	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// TestOpenAPI_realServices creates a project of an account with each document of a real service, calls
// it, takes the proposed rules in shadow, and exports it with the same document.
func TestOpenAPI_realServices(t *testing.T) {
	t.Parallel()
	upstream := testkit.NewUpstream(t)
	server := harness.Start(t)
	api := harness.Connect(t, server.Config.PublicURL, accessToken(t, server))
	// Package openapi reads all documents of its testdata; these go the whole way.
	for n, file := range []string{
		"box.json.gz", "discord.json.gz", "figma.yaml.gz", "museum.yaml.gz", "paypal-orders.json.gz",
		"paypal-subscriptions.json.gz", "petstore.yaml.gz", "twilio.json.gz",
	} {
		name, _, _ := strings.Cut(file, ".")
		file = filepath.Join("../../core/openapi/testdata", file)
		made, err := client.Do(t.Context(), api, contract.CreateProxy, contract.NewProxy{
			Target:       upstream.URL,
			Name:         name,
			Version:      "1.0.0",
			RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
		}.Request())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		version := contract.VersionPath{ProjectPath: contract.ProjectPath{Project: name}, Version: "1.0.0"}
		in := contract.OpenAPIUpdate{VersionPath: version}
		in.SetText(unpacked(t, file))
		if _, err := client.Do(t.Context(), api, contract.SetOpenAPIDocument, in); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		proposed, err := client.Do(t.Context(), api, contract.ProposeRules, version)
		if err != nil || len(proposed.Rules) == 0 {
			t.Errorf("%s: %d rules, %v", name, len(proposed.Rules), err)
			continue
		}
		rules := contract.Rules{Default: "allow", Mode: "shadow", List: proposed.Rules[:min(len(proposed.Rules), 500)]}
		if _, err := client.Do(t.Context(), api, contract.SetRules, contract.RulesUpdate{
			VersionPath: version, Body: rules,
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		harness.CallsAnswer(t, server.Config.Address(name, "1.0.0", "prod"), made.APIKeys["prod"].Key.Reveal(),
			http.StatusOK, http.StatusUnauthorized)
		format := []string{"gateway", "data"}[n%2]
		queued, err := client.Do(t.Context(), api, contract.CreateExport, contract.NewExport{Format: format}.In(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		exported := openAPIIn(t, harness.Downloaded(t, api, harness.WaitForExport(t, api, queued.ID)))
		if diff := cmp.Diff(documentOf(t, api, name), exported); diff != "" {
			t.Errorf("%s: openapi.json in the zip (-imported +exported):\n%s", name, diff)
		}
	}
}

// accessToken creates the first account, and an access token of it.
func accessToken(t *testing.T, server *app.App) string {
	t.Helper()
	owner := visitor(t)
	owner.fills(t, server.FirstLink, "email", "ana@example.com", "name", "Ana", "password", "four unrelated words")
	answer, err := owner.Post(server.Config.PublicURL+"/api/v1/tokens", "application/json",
		strings.NewReader(`{"name": "documents", "scopes": ["read", "write", "keys", "export"]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var made contract.TokenWithSecret
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.Secret == "" {
		t.Fatalf("no token: %s, %v", answer.Status, err)
	}
	return made.Secret.Reveal()
}

// openAPIIn returns the OpenAPI document in a zip.
func openAPIIn(t *testing.T, archive []byte) (out any) {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	text, err := fs.ReadFile(files, "openapi.json")
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func unpacked(t *testing.T, file string) string {
	t.Helper()
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	reader, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documentOf returns the OpenAPI document of a project's version 1.0.0.
func documentOf(t *testing.T, api *client.Client, project string) (out any) {
	t.Helper()
	text, err := client.Do(t.Context(), api, contract.GetOpenAPIDocument, contract.VersionPath{
		ProjectPath: contract.ProjectPath{Project: project}, Version: "1.0.0",
	})
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatalf("%s: %v", project, err)
	}
	return out
}
