package keys

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"postern/core/contract"
	"postern/core/keyfile"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/turns"
	"postern/service/access"
)

// KeysImportedEvent is the event of an import from a file.
const KeysImportedEvent = "keys.imported"

const (
	importAtOnce     = 1000 // rows of one transaction
	maxImportErrors  = 1000 // that are listed
	importAttempts   = 3    // at a batch, if another request creates one of its keys at the same time
	importLease      = 15 * time.Second
	importRepeatable = 24 * time.Hour
)

// Rows are the keys of a file, as keyfile.Reader reads them.
type Rows interface {
	Next() (keyfile.Row, []keyfile.Refusal, error)
}

// ImportFile is a file of keys that is being uploaded.
type ImportFile struct {
	Rows   Rows
	SHA256 func() string                     // of the file, once it has been read
	Again  []byte                            // equal for repetitions of an import; nil if it can't be repeated
	Read   func(keyfile.Row)                 // called with each row as it is read, before its result; may be nil
	Line   func(contract.KeyImportRow) error // called with the result of each row; may be nil
}

// CheckImport reports whether the principal may import keys into a project, before the file is received.
func (s *Service) CheckImport(ctx context.Context, p access.Principal, in contract.KeyImport) error {
	_, err := access.Project(s.DB.Read(ctx), p, in.Project, access.KeyCreate)
	if err != nil {
		return fmt.Errorf("keys: import into %s: %w", in.Project, err)
	}
	return nil
}

// Import creates the keys of a file in a project, in transactions of 1,000 rows. A refused row doesn't affect the
// others. If the file can't be read beyond a row, the rows before it stay imported. Import writes one audit entry, one
// event, and a revision per transaction. Nothing that it writes or returns contains a key, or more than four characters
// of one.
func (s *Service) Import(
	ctx context.Context, p access.Principal, in contract.KeyImport, file ImportFile,
) (contract.KeysImported, error) {
	defer turns.Background()()
	run := &importing{service: s, p: p, in: in, file: file, seen: map[uint64]prior{}}
	run.result.Errors, run.result.Notes = []contract.KeyImportError{}, []contract.KeyImportNote{}
	if err := run.all(ctx); err != nil {
		return contract.KeysImported{}, fmt.Errorf("keys: import into %s: %w", in.Project, err)
	}
	return run.result, nil
}

// importing is an attempt at an import.
type importing struct {
	service *Service
	p       access.Principal
	in      contract.KeyImport
	file    ImportFile
	result  contract.KeysImported    // of all attempts
	counts  contract.KeyImportCounts // of this attempt

	kept    *models.KeyImport // the progress; nil if the import can't be repeated
	skip    int64             // batches that an earlier attempt has written
	digest  [32]byte          // of the batches so far
	began   time.Time         // at the first attempt
	project models.Project

	seen  map[uint64]prior // rows of the file; without a dry run, those of the batch
	types []models.KeyType // that a dry run would create
}

// item is a row of the file, or why it isn't taken.
type item struct {
	row     keyfile.Row
	refused []keyfile.Refusal
}

func (r *importing) all(ctx context.Context) error {
	var err error
	r.project, err = access.Project(r.service.DB.Read(ctx), r.p, r.in.Project, access.KeyCreate)
	if err == nil {
		err = r.begin(ctx)
	}
	if err != nil {
		return err
	}
	if err := r.batches(ctx); err != nil {
		return errors.Join(err, r.end(context.WithoutCancel(ctx), false))
	}
	return r.end(ctx, true)
}

// begin continues where an earlier attempt ended.
func (r *importing) begin(ctx context.Context) error {
	r.began = models.Now()
	if r.file.Again == nil || r.in.DryRun {
		return nil
	}
	now := models.Now()
	row := models.KeyImport{
		Lookup: lookupOf(r.project.ID, r.file.Again), Attempt: models.NewID("try"), LeaseUntil: now.Add(importLease),
		Digest: r.digest[:], Result: r.result, ExpiresAt: now.Add(importRepeatable),
	}
	return r.service.DB.Write(ctx, func(tx *models.Tx) error {
		kept, held, err := tx.BeginKeyImport(row, now)
		if err != nil {
			return err
		}
		if !held {
			return errImporting
		}
		r.kept, r.skip, r.result = &kept, kept.Batches, kept.Result
		r.began = kept.ExpiresAt.Add(-importRepeatable)
		return nil
	})
}

var errImporting = fault.New(fault.Conflict, "idempotency_in_progress", "An import with this Idempotency-Key is "+
	"still in progress, or was interrupted when its server stopped. Try again in 15 seconds.").After(importLease)

var errOtherFile = fault.New(fault.Invalid, "idempotency_key_reused", "This Idempotency-Key was already used to "+
	"import a different file. Use a new key for each file, and reuse a key only to repeat the same import.")

func (r *importing) batches(ctx context.Context) error {
	batch, way := make([]item, 0, importAtOnce), r.makingWay()
	var rest error
	number := int64(1)
	for ; rest == nil; number++ {
		if batch, rest = r.read(batch[:0]); rest != nil && !errors.Is(rest, io.EOF) && number == 1 {
			return r.unreadable(rest) // nothing is written
		}
		if _, broken := errors.AsType[*keyfile.Error](rest); rest != nil && !errors.Is(rest, io.EOF) && !broken {
			return rest // the caller is gone: a repeated import has the whole batch
		}
		if len(batch) == 0 {
			break
		}
		if r.kept != nil {
			if err := r.follow(batch); err != nil {
				return err
			}
		}
		if number <= r.skip {
			if err := r.skipped(batch, number); err != nil {
				return err
			}
			continue
		}
		if r.kept != nil && r.kept.Done {
			return errOtherFile // it has more rows
		}
		if err := r.take(ctx, batch, number); err != nil {
			return err
		}
		way(ctx)
	}
	if rest != nil && !errors.Is(rest, io.EOF) {
		return r.unreadable(rest)
	}
	if number <= r.skip {
		return errOtherFile // it has fewer rows
	}
	return nil
}

// read reads rows until the batch is full.
func (r *importing) read(batch []item) ([]item, error) {
	for len(batch) < importAtOnce {
		row, refused, err := r.file.Rows.Next()
		if err != nil {
			return batch, err
		}
		batch = append(batch, item{row, refused})
	}
	return batch, nil
}

// follow adds a batch to the digest.
func (r *importing) follow(batch []item) error {
	sum := sha256.New()
	sum.Write(r.digest[:])
	lines := json.NewEncoder(sum)
	for i := range batch {
		row := batch[i].row
		row.ExpiresAt = row.ExpiresAt.Truncate(time.Second)
		if row.Relative {
			row.ExpiresAt = time.Time{}
		}
		err := errors.Join(lines.Encode(row), lines.Encode(batch[i].refused))
		if err != nil {
			return fmt.Errorf("identify row %d: %w", batch[i].row.Number, err)
		}
	}
	r.digest = [32]byte(sum.Sum(nil))
	return nil
}

// skipped passes over a batch of an earlier attempt.
func (r *importing) skipped(batch []item, number int64) error {
	if number == r.skip && [32]byte(r.kept.Digest) != r.digest {
		return errOtherFile
	}
	for i := range batch {
		if err := r.line(contract.KeyImportRow{Row: batch[i].row.Number, Result: contract.KeyRowEarlier}); err != nil {
			return err
		}
	}
	return nil
}

func (r *importing) line(of contract.KeyImportRow) error {
	if r.file.Line == nil {
		return nil
	}
	return r.file.Line(of)
}

// unreadable is the error of a file that can't be read beyond a row.
func (r *importing) unreadable(err error) error {
	file, ok := errors.AsType[*keyfile.Error](err)
	if !ok {
		return err
	}
	detail := file.Detail
	if n := r.counts.Created + r.counts.Updated; n > 0 {
		detail += fmt.Sprintf(" Earlier rows were imported (new or changed keys: %d). Correct the file and import it "+
			"again. Existing keys won't change.", n)
	}
	return fileFault(&keyfile.Error{Code: file.Code, Detail: detail, Proposals: file.Proposals})
}

// take writes a batch in one transaction.
func (r *importing) take(ctx context.Context, batch []item, number int64) error {
	for attempt := 1; ; attempt++ {
		var done *batchOf
		work := func(tx *models.Tx) (err error) {
			done = &batchOf{importing: r, tx: tx, now: models.Now()}
			return done.take(batch, number)
		}
		var err error
		if r.in.DryRun {
			err = work(r.service.DB.Read(ctx))
		} else {
			clear(r.seen)
			err = r.service.DB.Write(ctx, work)
		}
		if errors.Is(err, models.ErrDuplicate) && attempt < importAttempts {
			continue // now it finds the key that another request has created
		}
		if err != nil {
			return err
		}
		return r.took(done)
	}
}

// took counts a batch that was committed.
func (r *importing) took(b *batchOf) error {
	r.result.KeyImportCounts = plus(r.result.KeyImportCounts, b.counts)
	r.counts = plus(r.counts, b.counts)
	r.result.Errors = b.listed
	r.types = b.invented
	if r.kept != nil {
		r.kept = b.kept
	}
	for _, line := range b.lines {
		if err := r.line(line); err != nil {
			return err
		}
	}
	return nil
}

func plus(a, b contract.KeyImportCounts) contract.KeyImportCounts {
	return contract.KeyImportCounts{
		Created: a.Created + b.Created, Updated: a.Updated + b.Updated, Unchanged: a.Unchanged + b.Unchanged,
		Refused: a.Refused + b.Refused,
	}
}

// end writes the audit entry, and the event of a whole import.
func (r *importing) end(ctx context.Context, whole bool) error {
	if whole {
		r.result.SHA256 = r.file.SHA256()
	}
	if r.in.DryRun {
		return nil
	}
	now := models.Now()
	err := r.service.DB.Write(ctx, func(tx *models.Tx) error {
		reported := !whole && r.counts == (contract.KeyImportCounts{})
		if r.kept != nil {
			kept := *r.kept
			reported = reported || kept.Done
			kept.Done, kept.LeaseUntil = kept.Done || whole, now
			if held, err := tx.SaveKeyImport(kept); err != nil || !held {
				return err // another attempt continues
			}
		}
		if reported {
			return nil
		}
		return r.report(ctx, tx, whole)
	})
	if err != nil {
		return err
	}
	r.service.Changed(ctx)
	return nil
}

func (r *importing) report(ctx context.Context, tx *models.Tx, whole bool) error {
	counts := r.result.KeyImportCounts
	detail := map[string]string{
		"import":    "file",
		"created":   strconv.FormatInt(counts.Created, 10),
		"updated":   strconv.FormatInt(counts.Updated, 10),
		"unchanged": strconv.FormatInt(counts.Unchanged, 10),
		"refused":   strconv.FormatInt(counts.Refused, 10),
	}
	if whole {
		detail["sha256"] = r.result.SHA256
	} else {
		detail["import"] = "a part of a file"
	}
	err := access.Record(tx, r.p, access.Entry{
		Action: access.KeyCreate, Object: r.project.ID, Project: r.project.ID, Team: r.project.TeamID, Detail: detail,
	})
	if err != nil || !whole || r.service.Events == nil {
		return err
	}
	return r.service.Events.Emit(ctx, tx, r.project.TeamID, KeysImportedEvent, map[string]any{
		"project":      r.project.ID,
		"project_name": r.project.Name,
		"created":      counts.Created,
		"updated":      counts.Updated,
		"unchanged":    counts.Unchanged,
		"refused":      counts.Refused,
	})
}
