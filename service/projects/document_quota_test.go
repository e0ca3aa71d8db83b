package projects_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

// The number and the bytes of an unclaimed workspace's OpenAPI documents are limited, in all its projects together.
func TestSetOpenAPI_quota(t *testing.T) {
	for name, tc := range map[string]struct {
		size int // of each document
		most int
	}{
		"number": {100, 20},
		"bytes":  {900 << 10, 9},
	} {
		t.Run(name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				w := newWorld(t, db)
				created, owner := w.create(t, authenticated)
				second, err := w.Create(t.Context(), owner, authenticated)
				if err != nil {
					t.Fatal(err)
				}
				document := []byte(fmt.Sprintf(
					`{"openapi":"3.1.0","info":{"title":"t","version":"1","description":%q},"paths":{}}`,
					strings.Repeat("x", tc.size),
				))
				set := func(project, version string) error {
					in := contract.OpenAPIUpdate{VersionPath: versionPath(project, version), RawBody: document}
					_, err := w.SetOpenAPI(t.Context(), owner, in)
					return err
				}
				add := func(project, version string) {
					t.Helper()
					_, err := w.CreateVersion(t.Context(), owner, contract.NewVersion{Name: version}.In(project))
					if err != nil {
						t.Fatal(err)
					}
				}
				for i := range tc.most {
					project, version := []string{created.Project.ID, second.Project.ID}[i%2], fmt.Sprint("1.0.", i/2)
					if i >= 2 {
						add(project, version)
					}
					if err := set(project, version); err != nil {
						t.Fatalf("document %d: %v", i, err)
					}
				}
				if err := set(created.Project.ID, "1.0.0"); err != nil {
					t.Errorf("in place of another: %v", err)
				}
				add(created.Project.ID, "2")
				if err := set(created.Project.ID, "2"); fault.CodeOf(err) != "workspace_full" {
					t.Errorf("one more: %v", err)
				}
				in := authenticated
				in.OpenAPI = document
				if _, err := w.Create(t.Context(), owner, in); fault.CodeOf(err) != "workspace_full" {
					t.Errorf("one more, with a project: %v", err)
				}
				if _, err := db.SQL().ExecContext(t.Context(), "UPDATE teams SET claimed_at = created_at"); err != nil {
					t.Fatal(err)
				}
				if err := set(created.Project.ID, "2"); err != nil {
					t.Errorf("in a claimed team: %v", err)
				}
			})
		})
	}
}

func versionPath(project, version string) contract.VersionPath {
	return contract.VersionPath{ProjectPath: contract.ProjectPath{Project: project}, Version: version}
}

// counted answers every request with a document, and counts them.
type counted struct{ requests int }

func (c *counted) RoundTrip(*http.Request) (*http.Response, error) {
	c.requests++
	const document = `{"openapi":"3.1.0","info":{"title":"t","version":"1"},"paths":{}}`
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(document))}, nil
}

// Fetches of documents are limited within a while for each team, and for each address without one.
func TestSetOpenAPI_fetch(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	fetched := &counted{}
	w.Client = &http.Client{Transport: fetched}
	created, owner := w.create(t, authenticated)
	in := contract.OpenAPIUpdate{VersionPath: versionPath(created.Project.ID, "1.0.0"), DryRun: true}
	in.SetURL("https://api.example.com/openapi.json")
	var refused error
	for range 100 {
		_, err := w.SetOpenAPI(t.Context(), owner, in)
		if err != nil {
			refused = err
		}
	}
	if fault.CodeOf(refused) != "too_many_requests" || fetched.requests != 60 {
		t.Errorf("%d documents were fetched, then %v", fetched.requests, refused)
	}
}
