package exports_test

import (
	"archive/zip"
	"bytes"
	"slices"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
	"postern/service/exports"
	"postern/service/projects"
	"postern/testkit/state"
)

// filesOf lists the files of a zip below a folder.
func filesOf(t *testing.T, content []byte, folder string) (names []string) {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.File {
		if strings.HasPrefix(f.Name, folder) {
			names = append(names, f.Name)
		}
	}
	return names
}

// A project with a copied version, a renamed environment and a removed one, whose key is
// revoked, exports whole.
func TestExport_severalVersions(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		made := w.projects()
		v, err := made.CreateVersion(t.Context(), w.owner, contract.NewVersion{
			Name: "2.0.0",
			Environments: map[string]contract.EnvironmentTarget{
				"dev": {Target: "https://dev.example.com"}, "live": {Target: "https://live.example.com"},
			},
		}.In("shop"))
		if err != nil {
			t.Fatal(err)
		}
		deny := []string{"192.0.2.0/24"}
		change := contract.VersionChange{
			RequestsAuth: contract.RequestsAuthChange{Keyless: new("owner_fallback")},
			IP:           contract.IPRulesChange{Deny: &deny},
		}
		if _, err := made.UpdateVersion(t.Context(), w.owner, change.Of("shop", v.ID)); err != nil {
			t.Fatal(err)
		}
		first := contract.NewEnvironment{Name: "extra", Target: "https://api.example.com/extra"}
		if _, err := made.CreateEnvironment(t.Context(), w.owner, first.In("shop", "1.0.0")); err != nil {
			t.Fatal(err)
		}
		removed := environmentID(t, made, w.owner, "prod")
		gone := contract.EnvironmentRemoval{
			EnvironmentPath: contract.EnvironmentOf("shop", "1.0.0", "prod"),
			Removal:         contract.Removal{Confirm: true},
		}
		if _, err := made.DeleteEnvironment(t.Context(), w.owner, gone); err != nil {
			t.Fatal(err)
		}
		renamed := contract.EnvironmentChange{Name: new("staging")}.Of("shop", "2.0.0", v.Environments[0].ID)
		if _, err := made.UpdateEnvironment(t.Context(), w.owner, renamed); err != nil {
			t.Fatal(err)
		}
		for _, options := range []exports.Options{gateway, {Format: "data", Consumers: true}} {
			content := w.built(t, options)
			if _, err := verified(t, content); err != nil {
				t.Errorf("%s: %v", options.Format, err)
			}
			want := []string{"openapi/1.0.0.json", "openapi/2.0.0.json"}
			if got := filesOf(t, content, "openapi"); !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", options.Format, got, want)
			}
			ledger := ledgerCodes(t, content)
			for _, item := range itemsOf(t, made, w.owner) {
				if _, ok := ledger[item]; !ok {
					t.Errorf("%s: the ledger has no %s", options.Format, item)
				}
			}
			if _, ok := ledger["environment:"+removed]; ok {
				t.Errorf("%s: the ledger has the removed environment", options.Format)
			}
		}
	})
}

func environmentID(t *testing.T, made *projects.Service, p access.Principal, name string) string {
	t.Helper()
	project, err := made.Get(t.Context(), p, "shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range project.Versions[0].Environments {
		if e.Name == name {
			return e.ID
		}
	}
	t.Fatalf("there is no environment %s", name)
	return ""
}

// itemsOf lists the ledger items that each version and environment must have.
func itemsOf(t *testing.T, made *projects.Service, p access.Principal) (items []string) {
	t.Helper()
	project, err := made.Get(t.Context(), p, "shop")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range project.Versions {
		items = append(items, "version:"+v.ID, "access_policy:"+v.ID, "openapi_document:"+v.ID)
		for _, e := range v.Environments {
			items = append(items, "environment:"+e.ID, "route:"+e.ID+":host_form", "route:"+e.ID+":path_form")
		}
	}
	return items
}
