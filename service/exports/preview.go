package exports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

const (
	// previewKeys bounds the keys that a preview counts: those that are not plain are held in memory.
	previewKeys = 20_000
	// previewWithin bounds a preview.
	previewWithin = 10 * time.Second
)

// Preview returns the ledger that an export with these options would have now. It runs the code of an export, but
// writes nothing. It counts at most previewKeys of a project's keys. It needs no recipient and no proof for Secrets,
// because it contains no secrets.
func (s *Service) Preview(
	ctx context.Context, p access.Principal, in contract.ExportPreviewOptions,
) (contract.ExportPreview, error) {
	ctx, stop := context.WithTimeoutCause(ctx, previewWithin, errPreviewLate)
	defer stop()
	options := Options{Format: in.Format, Keys: in.Keys, Consumers: in.Consumers, Secrets: in.Secrets}
	var digest bundle.Digest
	err := s.DB.Consistent(ctx, func(tx *models.Tx) error {
		parent, err := access.Project(tx, p, in.Project, access.ExportRead)
		if err != nil {
			return err
		}
		if options, err = options.normalized(); err != nil {
			return err
		}
		state, err := s.input(tx, models.Export{
			ProjectID: parent.ID,
			Format:    options.Format,
			Keys:      options.Keys,
			Consumers: options.Consumers,
			Secrets:   options.Secrets,
		})
		if err != nil {
			return err
		}
		digest, err = bundle.Preview(ctx, state, previewKeys)
		return err
	})
	if err != nil && errors.Is(context.Cause(ctx), errPreviewLate) {
		err = errPreviewLate.Because(err)
	}
	if err != nil {
		return contract.ExportPreview{}, fmt.Errorf("exports: preview of %s: %w", in.Project, err)
	}
	out := contract.ExportPreview{
		Format:  in.Format,
		Ledger:  digest.Summary,
		Partial: digest.Partial,
		Items:   make([]contract.LedgerLine, len(digest.Lines)),
	}
	for i, line := range digest.Lines {
		out.Items[i] = line.LedgerLine
	}
	return out, nil
}

var errPreviewLate = fault.New(fault.Unavailable, "preview_too_slow",
	"The preview took longer than %d seconds. Create an export instead. It includes the full ledger.",
	int(previewWithin.Seconds()))
