package exports

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"postern/core/contract"
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

// TakeOver releases all leases, so that an interrupted export continues immediately rather than when its lease ends.
// Only the sole owner of the state may call it, before its workers start.
func (s *Service) TakeOver(ctx context.Context) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error { return tx.ReleaseLeases(models.Now()) })
	if err != nil {
		return fmt.Errorf("exports: take over abandoned exports: %w", err)
	}
	return s.requeue(ctx)
}

func (s *Service) requeue(ctx context.Context) error {
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		abandoned, err := tx.AbandonedExports(models.Now(), upkeepBatch)
		if err != nil {
			return fmt.Errorf("exports: find abandoned exports: %w", err)
		}
		for _, row := range abandoned {
			moved, err := tx.MoveExport(row.ID, []string{contract.ExportBuilding}, contract.ExportQueued)
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
		return fmt.Errorf("exports: find expired exports: %w", err)
	}
	for _, row := range expired {
		if err := s.Store.Remove(ctx, row.ID); err != nil {
			return fmt.Errorf("exports: remove the file of %s: %w", row.ID, err)
		}
		err := s.DB.Write(ctx, func(tx *models.Tx) error {
			if err := forgetPeople(tx, row.ID); err != nil {
				return err
			}
			return tx.ExpireExport(row.ID)
		})
		if err != nil {
			return fmt.Errorf("exports: expire %s: %w", row.ID, err)
		}
	}
	return nil
}

// Sweep removes files that no export needs: leftovers of killed workers from exports that have ended since, and files
// older than TTL of exports that aren't in the database. The latter may belong to another installation, but its exports
// don't live longer than TTL either.
func (s *Service) Sweep(ctx context.Context) error {
	latest := map[string]time.Time{}
	for file, err := range s.Store.List(ctx) {
		if err != nil {
			return fmt.Errorf("exports: list the files: %w", err)
		}
		if file.WrittenAt.After(latest[file.Export]) {
			latest[file.Export] = file.WrittenAt
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(latest)), upkeepBatch) {
		states, err := s.DB.Read(ctx).ExportStates(ids)
		if err != nil {
			return fmt.Errorf("exports: find the exports of files: %w", err)
		}
		for _, id := range ids {
			if s.needs(states[id], latest[id]) {
				continue
			}
			if err := s.Store.Remove(ctx, id); err != nil {
				return fmt.Errorf("exports: remove the leftovers of %s: %w", id, err)
			}
			s.Log.InfoContext(ctx, "removed the leftovers of an export", "export", id, "state", states[id])
		}
	}
	return nil
}

// needs reports whether an export in this state, "" for an unknown one, needs its files.
func (s *Service) needs(state string, writtenAt time.Time) bool {
	switch state {
	case contract.ExportQueued, contract.ExportBuilding, contract.ExportReady:
		return true
	case "":
		return writtenAt.Add(s.TTL).After(models.Now())
	}
	return false
}
