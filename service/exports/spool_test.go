package exports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"postern/models"
	"postern/service/exports"
	"postern/testkit/state"
)

// A zip is the same whether rows were kept in a file between passes or could not be, and
// no file is left.
func TestSpool_sameRows(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			return addPeople(tx, w.project, 2500, map[string]person{})
		})
		if err != nil {
			t.Fatal(err)
		}
		temporary := t.TempDir()
		var zips [][]byte
		for _, dir := range []string{temporary, filepath.Join(temporary, "missing")} {
			t.Setenv("TMPDIR", dir)
			e := w.request(t, exports.Options{Format: "gateway", Consumers: true})
			if err := w.Build(t.Context(), e.ID, true); err != nil {
				t.Fatal(err)
			}
			zips = append(zips, w.download(t, e.ID))
		}
		if !bytes.Equal(zips[0], zips[1]) {
			t.Error("the zips differ")
		}
		if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}
