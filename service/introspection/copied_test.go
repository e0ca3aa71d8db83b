package introspection_test

import (
	"testing"

	"postern/models"
	"postern/service/projects"
	"postern/testkit/state"
)

// A copied version checks tokens with the secret of its source, also when the source is
// gone and the copy has taken its name.
func TestAsk_copiedVersion(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w, e := newWorld(t, db), newEndpoint(t)
		_, p := w.create(t, opaque("shop", e.URL+"/introspect"))
		if _, err := w.projects.CreateVersion(t.Context(), p, "shop",
			projects.VersionInput{Name: "2.0.0"}); err != nil {
			t.Fatal(err)
		}
		gone := projects.RemovalInput{Version: "1.0.0", Confirmed: true}
		if err := w.projects.Remove(t.Context(), p, "shop", gone); err != nil {
			t.Fatal(err)
		}
		w.call(t, "shop", "canary-token").wants(t, "the removed version", 404, "no_route")
		name := projects.AccessChange{Name: new("1.0.0")}
		if _, err := w.projects.UpdateAccess(t.Context(), p, "shop", "2.0.0", "", name); err != nil {
			t.Fatal(err)
		}
		w.call(t, "shop", "canary-token").wants(t, "the copy", 200, "")
	})
}
