package retention

import (
	"context"
	"errors"
	"fmt"

	"postern/models"
)

// trimAudit removes audit entries whose time is over.
func (s *Service) trimAudit(ctx context.Context) error {
	if s.Audit == 0 {
		return nil
	}
	return s.Trimmer.Trim(ctx, models.Now().Add(-s.Audit))
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
