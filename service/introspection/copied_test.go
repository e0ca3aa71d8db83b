package introspection_test

import (
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/testkit/state"
)

// A copied version checks tokens with the secret of its source, also when the source is
// gone and the copy has taken its name.
func TestIntrospect_copiedVersion(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, e := newWorld(t, db), newEndpoint(t)
		_, p := w.create(t, opaque("shop", e.URL+"/introspect"))
		second := contract.NewVersion{Name: "2.0.0"}.In("shop")
		if _, err := w.projects.CreateVersion(t.Context(), p, second); err != nil {
			t.Fatal(err)
		}
		gone := contract.VersionRemoval{
			VersionPath: contract.VersionOf("shop", "1.0.0"), Removal: contract.Removal{Confirm: true},
		}
		if _, err := w.projects.DeleteVersion(t.Context(), p, gone); err != nil {
			t.Fatal(err)
		}
		w.call(t, "shop", "canary-token").wants(t, "the removed version", 404, "no_route")
		name := contract.VersionChange{Name: new("1.0.0")}
		if _, err := w.projects.UpdateVersion(t.Context(), p, name.Of("shop", "2.0.0")); err != nil {
			t.Fatal(err)
		}
		w.call(t, "shop", "canary-token").wants(t, "the copy", 200, "")
	})
}
