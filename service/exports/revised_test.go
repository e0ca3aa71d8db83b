package exports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/exports"
	"postern/service/projects"
	"postern/testkit"
	"postern/testkit/state"
)

// TestExport_revised changes what an export holds from outside of its project. The
// later export has another exported_at and revision, and a third equals the second.
func TestExport_revised(t *testing.T) {
	tests := []struct {
		name   string
		change func(*testing.T, *world, string)
	}{
		{"a product's key is created in another project", func(t *testing.T, w *world, _ string) {
			if _, err := w.keys.Create(t.Context(), w.owner, contract.NewKey{
				Owner:   "late",
				Product: "store",
			}.In("books")); err != nil {
				t.Fatal(err)
			}
		}},
		{"a product's key is revoked in another project", func(t *testing.T, w *world, key string) {
			if _, err := w.keys.Revoke(t.Context(), w.owner, contract.KeyPath{Key: key}); err != nil {
				t.Fatal(err)
			}
		}},
		{"the project's settings change", func(t *testing.T, w *world, _ string) {
			name := "Renamed"
			settings := contract.ProjectChange{DisplayName: &name}
			if _, err := w.projects().Update(t.Context(), w.owner, settings.Of("shop")); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			state.Each(t, func(t *testing.T, db *models.DB) {
				w := newWorld(t, db)
				key := w.shareProduct(t)
				before, _ := w.exported(t)
				waitUntilAfter(t, before.at)
				test.change(t, w, key)
				after, content := w.exported(t)
				if !after.at.After(before.at) || after.revision <= before.revision {
					t.Errorf(
						"exported_at %s, revision %d after %s, %d: want later ones",
						after.at,
						after.revision,
						before.at,
						before.revision,
					)
				}
				if _, again := w.exported(t); !bytes.Equal(content, again) {
					t.Error("two exports of one state differ")
				}
			})
		})
	}
}

// TestExport_revisedDetachedTenant renames a tenant that only keys still belong to.
func TestExport_revisedDetachedTenant(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.keyOfADetachedTenant(t, db)
		before, _ := w.exported(t)
		waitUntilAfter(t, before.at)
		owner := "fallback"
		if _, err := w.projects().UpdateTenant(t.Context(), w.owner, contract.TenantUpdate{
			TenantPath: contract.TenantPath{Tenant: "tnt_gone"},
			Body:       contract.TenantChange{FallbackOwner: contract.Sent(owner)},
		}); err != nil {
			t.Fatal(err)
		}
		if after, _ := w.exported(t); !after.at.After(before.at) {
			t.Errorf("exported_at %s after %s, want a later one", after.at, before.at)
		}
	})
}

// waitUntilAfter waits for a change to have a later time in the database, which counts microseconds.
func waitUntilAfter(t *testing.T, at time.Time) {
	t.Helper()
	testkit.Eventually(t, "a later time", func() bool { return models.Now().After(at) })
}

func (w *world) projects() *projects.Service {
	return &projects.Service{
		DB:      w.DB,
		Targets: anyTarget{},
		Log:     slog.New(slog.DiscardHandler),
		Changed: func(context.Context) {},
	}
}

// shareProduct puts shop into a product with another project, and returns the id of a
// key of the product that the other project made.
func (w *world) shareProduct(t *testing.T) string {
	t.Helper()
	service := w.projects()
	product := "store"
	_, err := service.Create(t.Context(), w.owner, projects.CreateInput{
		Target:  "https://books.example.com",
		Name:    "books",
		Product: product,
	})
	if err != nil {
		t.Fatal(err)
	}
	settings := contract.ProjectChange{Product: contract.Sent(product)}
	if _, err := service.Update(t.Context(), w.owner, settings.Of("shop")); err != nil {
		t.Fatal(err)
	}
	minted, err := w.keys.Create(t.Context(), w.owner, contract.NewKey{Owner: "early", Product: product}.In("books"))
	if err != nil {
		t.Fatal(err)
	}
	return minted.ID
}

type exportedState struct {
	at       time.Time
	revision int64
}

// exported builds an export of shop and reads its manifest.
func (w *world) exported(t *testing.T) (exportedState, []byte) {
	t.Helper()
	e := w.request(t, exports.Options{Format: "data", Consumers: true})
	if err := w.Build(t.Context(), e.ID, true); err != nil {
		t.Fatal(err)
	}
	content := w.download(t, e.ID)
	zr, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	file, err := zr.Open("MANIFEST.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var manifest struct {
		ExportedAt time.Time `json:"exported_at"`
		Revision   int64     `json:"revision"`
	}
	if err := json.NewDecoder(file).Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	return exportedState{manifest.ExportedAt, manifest.Revision}, content
}
