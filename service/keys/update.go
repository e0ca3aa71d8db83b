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

// Update changes a key that is not revoked; one that has expired works again with a
// later expiry.
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

// apply changes the row and returns the errors of the fields that are invalid; with any
// of them, the row must not be saved.
func apply(in contract.KeyChange, row *models.APIKey, now time.Time) []fault.Field {
	wrong := checkExpiry(in.ExpiresAt.Value, now)
	if in.ExpiresAt.Sent {
		row.ExpiresAt = storable(in.ExpiresAt.Value)
	}
	if in.Description != nil {
		row.Description = *in.Description
		wrong = append(wrong, checkDescription(row.Description)...)
	}
	if in.Limits.Sent {
		row.Limits = nil
		if in.Limits.Value != nil {
			limits := *in.Limits.Value
			row.Limits = &limits
			wrong = append(wrong, CheckLimits("/limits", limits)...)
		}
	}
	if in.AllowedCIDRs != nil {
		ranges, rangesWrong := ReadRanges("/allowed_cidrs", *in.AllowedCIDRs, MaxRanges)
		row.AllowedCIDRs = ranges
		wrong = append(wrong, rangesWrong...)
	}
	return wrong
}
