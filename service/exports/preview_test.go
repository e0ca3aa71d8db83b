package exports_test

import (
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/exports"
	"postern/testkit/state"
)

func TestPreviewSaysWhatTheExportSays(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for _, options := range []exports.Options{gateway, {Format: "data"}} {
			preview, err := w.Preview(t.Context(), w.owner, w.project, options)
			if err != nil {
				t.Fatal(err)
			}
			e := w.request(t, options)
			if err := w.Build(t.Context(), e.ID, true); err != nil {
				t.Fatal(err)
			}
			if done := w.get(t, e.ID); contract.LedgerCounts(preview.Summary) != done.Ledger || preview.Partial {
				t.Errorf("%s: preview %+v, export %+v", options.Format, preview.Summary, done.Ledger)
			}
		}
		_, err := w.Preview(t.Context(), w.owner, w.project, exports.Options{Format: "tar"})
		if fault.CodeOf(err) != "invalid_format" {
			t.Errorf("format tar: %v", err)
		}
		_, err = w.Preview(t.Context(), access.Principal{}, w.project, gateway)
		if fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("without a credential: %v", err)
		}
	})
}
