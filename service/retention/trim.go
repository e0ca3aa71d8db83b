package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"postern/models"
	"postern/service/access"
)

// trimAudit removes audit entries whose time is over, and the logs of teams that do not exist any more.
func (s *Service) trimAudit(ctx context.Context) error {
	now := models.Now()
	var failed []error
	if s.Audit > 0 {
		failed = append(failed, s.Trimmer.Trim(ctx, now.Add(-s.Audit)))
	}
	for action, kept := range map[string]time.Duration{"": s.Audit, string(access.WorkspacePurge): s.Deleted} {
		if kept == 0 {
			continue
		}
		gone, err := s.DB.Read(ctx).ChainsOfGoneTeams(action, now.Add(-kept))
		if err == nil {
			err = s.Trimmer.Drop(ctx, gone)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// trimUsage removes usage whose time is over, of whole days in UTC.
func (s *Service) trimUsage(ctx context.Context) error {
	if s.Usage == 0 {
		return nil
	}
	before := models.Now().Add(-s.Usage).Unix() / models.TrafficDay * 24
	projects, err := s.DB.Read(ctx).ProjectsWithUsageBefore(before)
	if err != nil {
		return fmt.Errorf("retention: list the projects with old usage: %w", err)
	}
	var failed []error
	for _, project := range projects {
		if ctx.Err() != nil {
			return errors.Join(append(failed, ctx.Err())...)
		}
		for more := true; more; {
			err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
				more, err = tx.DeleteUsage(project, before)
				return err
			})
			if err != nil {
				failed = append(failed, fmt.Errorf("retention: usage of %s: %w", project, err))
				break
			}
		}
	}
	return errors.Join(failed...)
}

// keepRevisions is how long the change feed is kept. A gateway that has not followed it for longer reads everything.
const keepRevisions = 24 * time.Hour

// trimRevisions removes revisions whose time is over.
func (s *Service) trimRevisions(ctx context.Context) error {
	before := models.Now().Add(-keepRevisions)
	last := int64(0)
	for more := true; more; {
		err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
			last, more, err = tx.PruneRevisions(last, before, rowsAtOnce)
			return err
		})
		if err != nil {
			return fmt.Errorf("retention: revisions: %w", err)
		}
	}
	return nil
}

// trimKeys removes keys that were revoked long ago.
func (s *Service) trimKeys(ctx context.Context) error {
	if s.Revoked == 0 {
		return nil
	}
	before := models.Now().Add(-s.Revoked)
	for removed := rowsAtOnce; removed == rowsAtOnce; {
		err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
			removed, err = tx.RemoveRevokedKeys(before, rowsAtOnce)
			return err
		})
		if err != nil {
			return fmt.Errorf("retention: revoked keys: %w", err)
		}
	}
	return nil
}

// How long rows are kept that say what happened to an invitation, an export, a gateway or a target.
const (
	keepInvitations = 30 * 24 * time.Hour // after they have expired
	keepExports     = 90 * 24 * time.Hour // after they have ended

	keepGateways     = time.Hour           // after they were last seen
	keepTargetHealth = 30 * 24 * time.Hour // after a target has recovered
)

// trimRows removes invitations, exports and gateways that have long ended, what is counted by the day, what is known of
// targets that have long recovered, and plans of imports that have expired.
func (s *Service) trimRows(ctx context.Context) error {
	now := models.Now()
	day := now.Unix()/models.TrafficDay - models.DaysCounted
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		return errors.Join(
			tx.DeleteInvitationsBefore(now.Add(-keepInvitations)),
			tx.DeleteExportsBefore(now.Add(-keepExports)),
			tx.DeleteShadowRefusals(day),
			tx.DeleteRelationMisses(day),
			tx.DeleteInvalidRequests(day),
			tx.ForgetGateways(now.Add(-keepGateways)),
			tx.DeleteTargetHealthBefore(now.Add(-keepTargetHealth)),
			tx.DeleteImportPlansBefore(now),
		)
	})
	if err != nil {
		return fmt.Errorf("retention: invitations, exports and daily counts: %w", err)
	}
	return nil
}
