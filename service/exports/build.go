package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"

	"postern/bundle"
	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
)

// A worker renews its lease with every progress report. Without one for leaseFor, it is considered dead.
const (
	leaseFor    = 10 * time.Second
	reportEvery = time.Second
)

// WaitingForStore is the current part of an export that waits for an unavailable store.
const WaitingForStore = "waiting for the export storage"

// storeAgain is the pause before an export tries such a store again.
const storeAgain = 15 * time.Second

// Build builds an export, unless it is finished or another worker has its lease. It can be stopped at any point and
// called again. After an error, the export stays unfinished for another attempt. It is marked failed if final is set,
// or if every attempt would fail.
//
// While the store is unavailable, the export is queued again, even if final is set, and the error says when to call
// Build again (fault.RetryAfter). An export that has waited for TTL fails.
func (s *Service) Build(ctx context.Context, id string, final bool) error {
	lease := models.NewID("lse")
	now := models.Now()
	held := false
	err := s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		held, err = tx.LeaseExport(id, lease, now, now.Add(leaseFor))
		return err
	})
	if err != nil || !held {
		return err
	}
	row, err := s.DB.Read(ctx).ExportByID(id)
	if err != nil {
		return fmt.Errorf("exports: build %s: %w", id, err)
	}
	err = s.attempt(ctx, row)
	if err == nil {
		return nil
	}
	return s.undone(ctx, row, fmt.Errorf("exports: build %s: %w", id, err), final)
}

// undone decides what happens to an export after a failed attempt, and returns what Build does.
func (s *Service) undone(ctx context.Context, row models.Export, err error, final bool) error {
	// The attempt may have ended because the job's context has.
	after, stop := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer stop()
	invalid := fault.KindOf(err) == fault.Invalid
	down := errors.Is(err, ErrStoreDown)
	switch {
	case ctx.Err() != nil || errors.Is(err, errLeaseLost):
	case down && models.Now().Before(row.CreatedAt.Add(s.TTL)):
		return s.wait(after, row, err)
	case down || final || invalid:
		s.Log.ErrorContext(ctx, "an export failed", "export", row.ID, "error", err)
		return errors.Join(s.abandon(after, row, err), ignoreIf(invalid, err))
	}
	return errors.Join(err, s.release(after, row))
}

// wait queues an export again that the store kept from being built.
func (s *Service) wait(ctx context.Context, row models.Export, cause error) error {
	if row.Part != WaitingForStore {
		s.Log.WarnContext(ctx, "an export is waiting because the export storage isn't responding",
			"export", row.ID, "error", cause)
	}
	row.State, row.Part, row.RowsDone, row.RowsTotal = contract.ExportQueued, WaitingForStore, 0, 0
	if err := s.release(ctx, row); err != nil {
		return errors.Join(cause, err)
	}
	return fault.New(fault.Unavailable, "exports_unavailable", "The export storage isn't responding.").
		After(storeAgain).Because(cause)
}

// abandon marks an export failed, and then removes its files. While it is not marked, the
// files may be those of another worker.
func (s *Service) abandon(ctx context.Context, row models.Export, cause error) error {
	if err := s.fail(ctx, row, cause); err != nil {
		return err
	}
	return s.Store.Remove(ctx, row.ID)
}

func ignoreIf(ignore bool, err error) error {
	if ignore {
		return nil
	}
	return err
}

// attempt writes the zip and marks the export ready. A panic becomes an error, so that it
// ends in a failed export and not in a job that is retried forever.
func (s *Service) attempt(ctx context.Context, row models.Export) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("panic: %v\n%s", failure, debug.Stack())
		}
	}()
	report := s.startReporting(ctx, row)
	defer func() { _ = report.stop() }() // also after a panic
	result, draft, err := s.draw(report.ctx, &row, report.note)
	if leaseErr := report.stop(); leaseErr != nil {
		err = leaseErr
	}
	if err == nil {
		err = s.finish(ctx, row, report.latest(), result)
	}
	// After another error of finish, the row may have been marked nevertheless.
	if draft != nil && errors.Is(err, errLeaseLost) {
		draft.Discard()
	}
	return err
}

// draw writes the zip into the store, and sets the key of a file with secrets. After an
// error there is no file.
func (s *Service) draw(
	ctx context.Context, row *models.Export, progress Progress,
) (result bundle.Result, draft Draft, err error) {
	draft, err = s.Store.Create(ctx, attemptOf(*row))
	if err != nil {
		return result, nil, err
	}
	whole := false
	defer func() {
		if !whole { // also after a panic
			draft.Discard()
		}
	}()
	if row.Secrets {
		encrypted, key, err := s.encrypted(ctx, *row, draft)
		if err != nil {
			return result, nil, err
		}
		draft, row.FileKey = encrypted, key
	}
	write := s.Write
	if bulky, err := s.bulky(ctx, *row); err != nil {
		return result, nil, err
	} else if bulky {
		write = s.Elsewhere
	}
	if result, err = write(ctx, *row, draft, progress); err == nil {
		err = draft.Commit()
	}
	whole = err == nil
	return result, draft, err
}

// Progress is called during the writing of each part, with the numbers of finished rows and of all rows.
type Progress func(part string, done, total int64)

// Write writes the zip of an export from a consistent state.
func (s *Service) Write(
	ctx context.Context, row models.Export, to io.Writer, progress Progress,
) (result bundle.Result, err error) {
	sign, err := s.signer(ctx)
	if err != nil {
		return result, err
	}
	err = s.DB.Consistent(ctx, func(tx *models.Tx) (err error) {
		result, err = s.write(ctx, tx, row, to, sign, progress)
		return err
	})
	return result, err
}

// bulkyFrom is the number of keys, users or relations from which on an export is built elsewhere. Smaller exports are
// written in the time that another process needs to start.
const bulkyFrom = 2000

// bulky reports whether an export is built elsewhere. It creates the key that signs exports
// then: only this process writes to the database.
func (s *Service) bulky(ctx context.Context, row models.Export) (bool, error) {
	if s.Elsewhere == nil {
		return false, nil
	}
	bulky, err := s.DB.Read(ctx).ProjectHasMore(row.ProjectID, bulkyFrom)
	if err == nil && bulky && s.Vault != nil {
		_, err = s.exportKeys(ctx)
	}
	return bulky, err
}

func attemptOf(row models.Export) Attempt { return Attempt{Export: row.ID, Lease: row.LeaseID} }

func (s *Service) finish(ctx context.Context, row models.Export, progress progress, result bundle.Result) error {
	now := models.Now()
	expires := now.Add(s.TTL)
	row.State, row.Part, row.RowsDone, row.RowsTotal = contract.ExportReady, "", progress.total, progress.total
	row.SizeBytes, row.SHA256 = result.Size, fmt.Sprintf("%x", result.SHA256)
	row.Exact, row.Approximate = result.Summary.Exact, result.Summary.Approximate
	row.Lossy, row.Skipped = result.Summary.Lossy, result.Summary.Skipped
	own := result.Summary.Configured
	row.ConfiguredExact, row.ConfiguredApproximate = own.Exact, own.Approximate
	row.ConfiguredLossy, row.ConfiguredSkipped = own.Lossy, own.Skipped
	row.FinishedAt, row.ExpiresAt, row.LeaseUntil = &now, &expires, nil
	return s.end(ctx, row, result.Lines)
}

func (s *Service) fail(ctx context.Context, row models.Export, cause error) error {
	now := models.Now()
	row.State, row.FinishedAt, row.LeaseUntil = contract.ExportFailed, &now, nil
	row.Problem = "The export failed. Try again. If it fails again, search the server log for the ID of this export."
	if errors.Is(cause, ErrStoreDown) {
		cause = explain(cause)
	}
	if public, ok := errors.AsType[*fault.Error](cause); ok {
		row.Problem = public.Public
	}
	return s.end(ctx, row, nil)
}

// end marks the export as ended, with the lines of its ledger if it has one.
func (s *Service) end(ctx context.Context, row models.Export, lines []bundle.Line) error {
	document, err := packed(lines)
	if err != nil {
		return err
	}
	ended := false
	err = s.DB.Write(ctx, func(tx *models.Tx) (err error) {
		if ended, err = tx.FinishExport(row); err != nil || !ended {
			return err
		}
		if lines != nil {
			if err := tx.Insert(&models.ExportLedger{ExportID: row.ID, Document: document}); err != nil {
				return err
			}
		}
		if s.Events == nil {
			return nil
		}
		parent, err := tx.ProjectByID(row.ProjectID)
		if err != nil {
			return err
		}
		return s.Events.Emit(ctx, tx, parent.TeamID, "export."+row.State, map[string]any{
			"export":       row.ID,
			"project":      parent.ID,
			"project_name": parent.Name,
			"format":       row.Format,
		})
	})
	if err == nil && !ended {
		return errLeaseLost
	}
	return err
}

func (s *Service) release(ctx context.Context, row models.Export) error {
	now := models.Now()
	row.LeaseUntil = &now
	return s.DB.Write(ctx, func(tx *models.Tx) error {
		_, err := tx.ProgressExport(row)
		return err
	})
}

var errLeaseLost = errors.New("the export was canceled or taken over by another worker")

type progress struct {
	part        string
	done, total int64
}

// reporter writes the progress and renews the lease once a second, in its own goroutine. It cancels the attempt if the
// lease is lost.
type reporter struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	now    atomic.Pointer[progress]
	done   chan struct{}
}

func (s *Service) startReporting(ctx context.Context, row models.Export) *reporter {
	r := &reporter{done: make(chan struct{})}
	r.now.Store(&progress{part: row.Part}) // what it waited for, until it has that
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	go func() {
		defer close(r.done)
		ticker := time.NewTicker(reportEvery)
		defer ticker.Stop()
		for {
			select {
			case <-r.ctx.Done():
				return
			case <-ticker.C:
				r.write(s, row)
			}
		}
	}()
	return r
}

func (r *reporter) write(s *Service, row models.Export) {
	p := r.latest()
	until := models.Now().Add(leaseFor)
	row.Part, row.RowsDone, row.RowsTotal, row.LeaseUntil = p.part, p.done, p.total, &until
	held := true
	err := s.DB.Write(r.ctx, func(tx *models.Tx) (err error) {
		held, err = tx.ProgressExport(row)
		return err
	})
	if err != nil && r.ctx.Err() == nil {
		s.Log.WarnContext(r.ctx, "could not record the progress of an export", "export", row.ID, "error", err)
	}
	if !held && r.ctx.Err() == nil {
		r.cancel(errLeaseLost)
	}
}

func (r *reporter) note(part string, done, total int64) {
	r.now.Store(&progress{part: part, done: done, total: total})
}

func (r *reporter) latest() progress { return *r.now.Load() }

// stop ends the reports. It returns errLeaseLost if the lease was lost.
func (r *reporter) stop() error {
	r.cancel(nil)
	<-r.done
	if cause := context.Cause(r.ctx); errors.Is(cause, errLeaseLost) {
		return cause
	}
	return nil
}

func optional(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}
