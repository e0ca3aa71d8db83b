package exports

import (
	"context"
	"fmt"

	"postern/models"
)

// upkeepBatch bounds the exports of one Upkeep. The next one continues.
const upkeepBatch = 100

// Upkeep requeues exports whose worker died, and removes the files of expired exports. It
// can run on several replicas at a time.
func (s *Service) Upkeep(ctx context.Context) error {
	if err := s.requeue(ctx); err != nil {
		return err
	}
	return s.expire(ctx)
}

// TakeOver releases all leases and removes half-written files, so that a killed export
// continues at once and not when its lease ends. Only the sole owner of the state may call
// it, before its workers start.
func (s *Service) TakeOver(ctx context.Context, files Dir) error {
	if err := files.RemoveParts(); err != nil {
		return fmt.Errorf("exports: clean up: %w", err)
	}
	err := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.ReleaseLeases(models.Now()) })
	if err != nil {
		return fmt.Errorf("exports: take over: %w", err)
	}
	return s.requeue(ctx)
}

func (s *Service) requeue(ctx context.Context) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		abandoned, err := tx.AbandonedExports(models.Now(), upkeepBatch)
		if err != nil {
			return fmt.Errorf("exports: find abandoned ones: %w", err)
		}
		for _, row := range abandoned {
			moved, err := tx.MoveExport(row.ID, []string{Building}, Queued)
			if err != nil {
				return fmt.Errorf("exports: queue %s again: %w", row.ID, err)
			}
			if !moved {
				continue
			}
			if err := s.Jobs.EnqueueExport(ctx, tx, row.ID); err != nil {
				return fmt.Errorf("exports: queue %s again: %w", row.ID, err)
			}
		}
		return nil
	})
}

func (s *Service) expire(ctx context.Context) error {
	expired, err := s.DB.Read(ctx).ExpiredExports(models.Now(), upkeepBatch)
	if err != nil {
		return fmt.Errorf("exports: find expired ones: %w", err)
	}
	for _, row := range expired {
		if err := s.Store.Remove(row.ID); err != nil {
			return fmt.Errorf("exports: remove the file of %s: %w", row.ID, err)
		}
		err := s.DB.Write(ctx, func(tx *models.Tx) error {
			_, err := tx.MoveExport(row.ID, []string{Ready}, Expired)
			return err
		})
		if err != nil {
			return fmt.Errorf("exports: expire %s: %w", row.ID, err)
		}
	}
	return nil
}
