package domains

import (
	"context"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// How often the TXT record of a verified name is looked up again: while it is there, and
// after a lookup that did not find it.
const (
	CheckEvery   = 24 * time.Hour
	RecheckEvery = time.Hour
)

// recheckBatch is how many names are read at a time.
const recheckBatch = 100

// Recheck looks up the TXT records that are due. A name whose record has disappeared stays served, since a mistake at a
// name server must not stop an API: its team is notified by an audit entry, an event and the pages, and another team
// can verify it a week later. Domains that share a record are checked, and reported, once.
func (s *Service) Recheck(ctx context.Context) error {
	for {
		now := models.Now()
		due, err := s.DB.Read(ctx).DomainsToCheck(now.Add(-CheckEvery), now.Add(-RecheckEvery), recheckBatch)
		if err != nil {
			return fmt.Errorf("domains: list the domains to check: %w", err)
		}
		for _, row := range due {
			if err := s.recheck(ctx, row); err != nil {
				return fmt.Errorf("domains: check %s: %w", row.Host, err)
			}
		}
		if len(due) < recheckBatch {
			return nil
		}
	}
}

func (s *Service) recheck(ctx context.Context, seen models.Domain) error {
	looked := s.look(ctx, seen)
	if err := ctx.Err(); err != nil {
		return err //nolint:wrapcheck // Recheck names the host
	}
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		owner, err := tx.ProjectByID(seen.ProjectID)
		if err != nil {
			return fmt.Errorf("domains: project of %s: %w", seen.Host, err)
		}
		if current, err := locked(tx, owner, seen); err != nil || !current.UpdatedAt.Equal(seen.UpdatedAt) {
			return nil //nolint:nilerr // removed or changed: the next run looks at what it is now
		}
		row, now := seen, models.Now()
		looked.apply(&row, now)
		switch {
		case seen.MissingSince == nil && row.MissingSince != nil:
			err = s.report(ctx, tx, "record missing", EventRecordMissing, owner, seen, row)
		case seen.MissingSince != nil && row.MissingSince == nil:
			err = s.report(ctx, tx, "record back", EventRecordBack, owner, seen, row)
		default:
			// When a record was looked up is not a change of the name: its ETag stays.
			if _, err = tx.UpdateDomain(row, seen.UpdatedAt); err == nil {
				_, err = tx.ShareProof(row, owner.TeamID, time.Time{})
			}
		}
		return err
	})
}

// report writes the result of looking up a record.
func (s *Service) report(
	ctx context.Context, tx *models.Tx, what, event string, owner models.Project, was, row models.Domain,
) error {
	if _, err := write(tx, access.System(), access.DomainReport, what, owner, was, row); err != nil {
		return err
	}
	return s.emit(ctx, tx, event, owner, row)
}

func (s *Service) emit(
	ctx context.Context, tx *models.Tx, event string, owner models.Project, row models.Domain,
) error {
	if s.Events == nil {
		return nil
	}
	data := map[string]any{
		"domain":       row.ID,
		"host":         row.Host,
		"project":      owner.ID,
		"project_name": owner.Name,
	}
	if err := s.Events.Emit(ctx, tx, owner.TeamID, event, data); err != nil {
		return fmt.Errorf("domains: event %s: %w", event, err)
	}
	return nil
}
