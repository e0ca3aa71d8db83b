package keys

import (
	"context"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// Change is the input of Update; nil leaves a field as it is. A key's owner and what
// it opens are fixed: usage that was counted under its id would be attributed to
// another owner.
type Change struct {
	Description  *string
	Limits       *map[string]int64 // calls by window; to a nil map: those of its type; to an empty one: none
	AllowedCIDRs *[]string
	ExpiresAt    *time.Time
	NeverExpires bool // takes the expiry away
}

// Update changes a key that is not revoked; one that has expired works again with a
// later expiry. With ifMatch not empty it is refused as stale unless that is still
// the key's ETag.
func (s *Service) Update(ctx context.Context, p access.Principal, id, ifMatch string, in Change) (Key, error) {
	return s.change(ctx, p, id, "update", func(row *models.APIKey, now time.Time) error {
		if row.State == string(snapshot.KeyRevoked) {
			return errRevoked
		}
		if err := access.Unchanged(ifMatch, access.ETag(row.UpdatedAt)); err != nil {
			return err
		}
		return fault.InvalidFields(in.apply(row, now))
	})
}

// apply changes the row and returns the errors of the fields that are invalid; with any
// of them, the row must not be saved.
func (in Change) apply(row *models.APIKey, now time.Time) []fault.Field {
	wrong := checkExpiry(in.ExpiresAt, now)
	if in.ExpiresAt != nil {
		row.ExpiresAt = storable(in.ExpiresAt)
	} else if in.NeverExpires {
		row.ExpiresAt = nil
	}
	if in.Description != nil {
		row.Description = *in.Description
		wrong = append(wrong, checkDescription(row.Description)...)
	}
	if in.Limits != nil {
		row.Limits = nil
		if limits := models.Limits(*in.Limits); limits != nil {
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
