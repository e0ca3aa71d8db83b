package audit

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"postern/models"
	"postern/service/access"
)

// trimBatch is how many entries are removed in one transaction.
const trimBatch = 1000

// Names of the details of an entry that records a removal: the number and the hash of the
// last entry that was removed, from which the rest of the chain is verified.
const (
	trimNumber = "number"
	trimHash   = "hash"
)

// startOf returns the last entry that retention has removed from a team's chain, by the newest record of a removal in
// it. It is zero for a whole chain.
func startOf(tx *models.Tx, team string) (Head, error) {
	// Without a removal the search for one would read the whole chain.
	first, found, err := tx.FirstAuditEntry(team)
	if err != nil || !found || first.Number == 1 {
		return Head{}, err
	}
	record, found, err := tx.LastAuditTrim(team)
	if err != nil || !found {
		return Head{}, err
	}
	number, err := strconv.ParseInt(record.Detail[trimNumber], 10, 64)
	if err != nil || number < 1 || number >= record.Number {
		return Head{}, nil //nolint:nilerr // not as it was written: verification finds it
	}
	return Head{number, record.Detail[trimHash]}, nil
}

// Trimmer removes entries from before a time from all chains. An additional entry in each chain records the last
// removed one, so that the rest can be verified. The newest entry always stays.
type Trimmer struct {
	DB      *models.DB
	Streams []*Stream // entries that these haven't delivered yet stay
}

// Trim removes entries from before the given time. It leaves a chain unchanged if its entries were altered, because
// trimming would hide that. An error in one chain doesn't stop the others.
func (t *Trimmer) Trim(ctx context.Context, before time.Time) error {
	chains, err := t.DB.Read(ctx).AuditChains()
	if err != nil {
		return fmt.Errorf("audit: trim: %w", err)
	}
	return t.each(ctx, chains, func(chain models.AuditChain, delivered int64) error {
		return t.trimChain(ctx, chain.TeamID, before, min(delivered, chain.Number-1))
	})
}

// Drop removes the chains of teams that no longer exist. It keeps chains whose entries were altered, and chains with a
// new entry since they were listed.
func (t *Trimmer) Drop(ctx context.Context, gone []models.AuditChain) error {
	return t.each(ctx, gone, func(chain models.AuditChain, delivered int64) error {
		if delivered < chain.Number {
			return nil
		}
		if err := t.trimChain(ctx, chain.TeamID, models.Now(), chain.Number-1); err != nil {
			return err
		}
		return t.DB.Write(ctx, func(tx *models.Tx) error {
			if _, err := tx.LockAuditChain(chain.TeamID); err != nil {
				return err
			}
			entries, err := tx.AuditAfter(models.AuditEntry{TeamID: chain.TeamID, ID: afterAllIDs}, trimBatch)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if e.Number > chain.Number && e.Action != models.AuditTrim {
					return nil
				}
			}
			return tx.DeleteAuditChain(chain.TeamID)
		})
	})
}

// each calls fn with chains, and with the number of the last entry of each that all streams have delivered. An error
// about one does not keep the others.
func (t *Trimmer) each(
	ctx context.Context, chains []models.AuditChain, fn func(chain models.AuditChain, delivered int64) error,
) error {
	delivered := make([]map[string]Head, len(t.Streams))
	for i, stream := range t.Streams {
		var err error
		if delivered[i], err = stream.read(); err != nil {
			return err
		}
	}
	var failed []error
	for _, chain := range chains {
		if ctx.Err() != nil {
			return errors.Join(append(failed, ctx.Err())...)
		}
		through := chain.Number
		for _, position := range delivered {
			through = min(through, position[chain.TeamID].Number)
		}
		if err := fn(chain, through); err != nil {
			failed = append(failed, fmt.Errorf("audit: trim the chain of %q: %w", chain.TeamID, err))
		}
	}
	return errors.Join(failed...)
}

func (t *Trimmer) trimChain(ctx context.Context, team string, before time.Time, limit int64) error {
	for ctx.Err() == nil {
		first, found, err := t.DB.Read(ctx).FirstAuditEntry(team)
		if err != nil || !found || first.Number > limit || !first.CreatedAt.Before(before) {
			return err
		}
		more := false
		err = t.DB.Write(ctx, func(tx *models.Tx) (err error) {
			more, err = trimOnce(tx, team, before, limit)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
	return ctx.Err()
}

// trimOnce removes a batch, and reports whether there may be more.
func trimOnce(tx *models.Tx, team string, before time.Time, limit int64) (more bool, err error) {
	if _, err := tx.LockAuditChain(team); err != nil {
		return false, err
	}
	start, err := startOf(tx, team)
	if err != nil {
		return false, err
	}
	entries, err := tx.AuditAfter(models.AuditEntry{TeamID: team, ID: afterAllIDs}, trimBatch)
	if err != nil {
		return false, err
	}
	w, trims := walkFrom(start), int64(0)
	for _, e := range entries {
		if e.Number > limit || !e.CreatedAt.Before(before) {
			break
		}
		if err := w.step(e); err != nil {
			return false, err
		}
		if w.broken != nil {
			return false, fmt.Errorf("entry number %d was changed, so no entries are removed: %s", w.broken.Number,
				w.broken.Reason)
		}
		if e.Action == models.AuditTrim {
			trims++
		}
	}
	removed := w.entries
	if removed == trims { // a record of a removal alone is not worth another one
		return false, nil
	}
	if _, err := tx.DeleteAuditEntries(team, start.Number+1, w.at.Number); err != nil {
		return false, err
	}
	return removed == trimBatch, access.Record(tx, access.System(), access.Entry{
		Action: access.AuditTrim,
		Team:   team,
		Detail: map[string]string{
			trimNumber: strconv.FormatInt(w.at.Number, 10),
			trimHash:   w.at.Hash,
			"removed":  strconv.FormatInt(removed, 10),
			"before":   before.UTC().Format(time.RFC3339),
		},
	})
}
