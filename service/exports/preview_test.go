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

// previewed asks for the preview of an export with these options.
func (w *world) previewed(of exports.Options) contract.ExportPreviewOptions {
	return contract.ExportPreviewOptions{
		ProjectPath: contract.ProjectPath{Project: w.project},
		Format:      of.Format,
		Keys:        of.Keys,
		Consumers:   of.Consumers,
		Secrets:     of.Secrets,
	}
}

func TestPreview_sameAsExport(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for _, options := range []exports.Options{gateway, {Format: "data"}} {
			preview, err := w.Preview(t.Context(), w.owner, w.previewed(options))
			if err != nil {
				t.Fatal(err)
			}
			e := w.request(t, options)
			if err := w.Build(t.Context(), e.ID, true); err != nil {
				t.Fatal(err)
			}
			if done := w.get(t, e.ID); preview.Ledger != done.Ledger || preview.Partial {
				t.Errorf("%s: preview %+v, export %+v", options.Format, preview.Ledger, done.Ledger)
			}
		}
		_, err := w.Preview(t.Context(), w.owner, w.previewed(exports.Options{Format: "tar"}))
		if fault.CodeOf(err) != "invalid_format" {
			t.Errorf("format tar: %v", err)
		}
		_, err = w.Preview(t.Context(), access.Principal{}, w.previewed(gateway))
		if fault.KindOf(err) != fault.Unauthenticated {
			t.Errorf("without a credential: %v", err)
		}
	})
}
