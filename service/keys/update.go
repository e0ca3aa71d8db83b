package keys

import (
	"context"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Update changes a key that isn't revoked. An expired key becomes valid again with a later expiry.
func (s *Service) Update(ctx context.Context, p access.Principal, in contract.KeyUpdate) (contract.Key, error) {
	return s.change(ctx, p, in.KeyPath, "update", func(row *models.APIKey, now time.Time) error {
		if row.State == string(snapshot.KeyRevoked) {
			return errRevoked
		}
		if err := access.Unchanged(in.IfMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		return fault.InvalidFields(apply(in.Body, row, now))
	})
}
