package exports

import (
	"context"
	"io"

	"postern/bundle"
	"postern/models"
)

// Digest returns the SHA-256 of the zip that an unsigned export of a project as data would have in the transaction's
// state. It keeps no file and needs no Store.
func (s *Service) Digest(ctx context.Context, tx *models.Tx, projectID string) ([32]byte, error) {
	row := models.Export{
		ProjectID: projectID,
		Format:    string(bundle.FormatData),
		Keys:      string(bundle.KeysHashes),
		Consumers: true,
	}
	result, err := s.write(ctx, tx, row, discarded{io.Discard}, nil, func(string, int64, int64) {})
	return result.SHA256, err
}

// discarded is a Draft that is not kept.
type discarded struct{ io.Writer }

// Commit implements Draft.
func (discarded) Commit() error { return nil }

// Discard implements Draft.
func (discarded) Discard() {}
