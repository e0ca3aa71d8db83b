package usage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"postern/models"
)

// Bounds on what a flush writes at once. The sums of small projects go to their rows, which pages read, at once.
// Counters of the largest projects are appended to usage_log if all together were too many, and folded into the rows
// later.
const (
	directSums  = 500
	sumsOfEntry = 20_000
)

// Folding of usage_log into the rows. A process folds entries that are older than logAge; the transaction that removes
// them adds them.
const (
	logAge     = time.Minute
	lookForLog = 5 * time.Second
	sumsAtOnce = 2000    // in one transaction, so that it holds up no flush for long
	sumsInLog  = 200_000 // merged in memory
)

// counted is an entry of a tally.
type counted struct {
	counter
	sums
}

// split returns the sums to add to their rows, in the order of those, and the sums to append to usage_log. A project's
// are not divided.
func (t tally) split() (direct, logged []counted) {
	if len(t) <= directSums {
		return t.list(), nil
	}
	of := map[string]int{}
	pace := paceOf(len(t))
	for at := range t {
		of[at.project]++
		pace.step()
	}
	smallest := slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(cmp.Compare(of[a], of[b]), cmp.Compare(a, b))
	})
	sum, large := 0, map[string]bool{}
	for _, project := range smallest {
		sum += of[project]
		large[project] = sum > directSums
	}
	logged = make([]counted, 0, len(t))
	for at, s := range t {
		if large[at.project] {
			logged = append(logged, counted{at, *s})
		} else {
			direct = append(direct, counted{at, *s})
		}
		pace.step()
	}
	sortByRow(direct)
	return direct, logged
}

func (t tally) list() []counted {
	list := make([]counted, 0, len(t))
	for at, s := range t {
		list = append(list, counted{at, *s})
	}
	sortByRow(list)
	return list
}

// sortByRow sorts sums in the order of their rows' primary key: neighbors are on one page of the database.
func sortByRow(list []counted) {
	slices.SortFunc(list, func(a, b counted) int {
		return cmp.Or(
			cmp.Compare(a.project, b.project),
			cmp.Compare(a.hour, b.hour),
			cmp.Compare(a.environment, b.environment),
			cmp.Compare(a.owner, b.owner),
			cmp.Compare(a.key, b.key),
			cmp.Compare(a.route, b.route),
			cmp.Compare(a.class, b.class),
		)
	})
}

// logEntries returns rows of usage_log with the sums, each with at most n.
func logEntries(list []counted, n int, writtenAt time.Time) ([]models.UsageLogEntry, error) {
	var entries []models.UsageLogEntry
	for part := range slices.Chunk(list, n) {
		payload, err := encode(part)
		if err != nil {
			return nil, err
		}
		entries = append(entries, models.UsageLogEntry{
			ID:        models.NewID("ulg"),
			WrittenAt: writtenAt.Unix(),
			Sums:      int64(len(part)),
			Payload:   payload,
		})
	}
	return entries, nil
}

// followLog folds usage_log each minute, and tells webhooks of targets every lookForLog, until ctx ends.
func (r *Recorder) followLog(ctx context.Context) {
	tick := time.NewTicker(lookForLog)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.foldOldLog(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			r.log.Error("could not add logged usage to its rows; keeping it", "error", err)
		}
		failing = err != nil
		r.tellOfTargets(ctx)
	}
}

// LogAge returns how long the oldest entry of usage_log, of all replicas, has waited to be folded; 0 if there is none.
// While a process with the role worker runs, it is about logAge at most.
func (r *Recorder) LogAge(ctx context.Context) (time.Duration, error) {
	since, err := r.db.Read(ctx).UsageLogSince()
	if err != nil || since == 0 {
		return 0, err
	}
	return max(0, models.Now().Sub(time.Unix(since, 0))), nil
}

func (r *Recorder) foldOldLog(ctx context.Context) error {
	if age, err := r.LogAge(ctx); err != nil || age < logAge {
		return err
	}
	return r.FoldLog(ctx)
}

// FoldLog adds what is in usage_log, of all replicas, to the hourly rows and to the keys' last uses. Replicas may fold
// at the same time, and be killed at any time: each entry is removed in the transaction that adds it.
func (r *Recorder) FoldLog(ctx context.Context) error {
	var unread error
	for after := ""; ; {
		batch, err := r.readLog(ctx, after)
		unread = errors.Join(unread, batch.unread)
		if err != nil || batch.last == "" {
			return errors.Join(unread, err)
		}
		after = batch.last
		switch err := r.foldBatch(ctx, batch); {
		case errors.Is(err, models.ErrUsageLogTaken):
			return unread // another replica is folding
		case err != nil:
			return errors.Join(unread, fmt.Errorf("usage: fold %d entries: %w", len(batch.ids), err))
		}
	}
}

// logBatch holds entries of usage_log that were read.
type logBatch struct {
	ids    []string
	sums   tally
	oldest int64  // WrittenAt
	last   string // the last id, also of an entry that cannot be read; "": there were none
	unread error  // of entries that cannot be read, which stay
}

// readLog merges entries from the one after the id on, until there are sumsInLog sums.
func (r *Recorder) readLog(ctx context.Context, after string) (logBatch, error) {
	tx := r.db.Read(ctx)
	batch := logBatch{sums: tally{}}
	for len(batch.sums) < sumsInLog {
		entry, err := tx.NextUsageLog(after)
		if errors.Is(err, models.ErrNotFound) {
			return batch, nil
		}
		if err != nil {
			return batch, err
		}
		after, batch.last = entry.ID, entry.ID
		one := make(tally, entry.Sums)
		if err := one.decode(entry.Payload); err != nil {
			batch.unread = fmt.Errorf("usage_log %s: %w", entry.ID, err)
			continue
		}
		batch.sums.merge(one)
		if len(batch.ids) == 0 || entry.WrittenAt < batch.oldest {
			batch.oldest = entry.WrittenAt
		}
		batch.ids = append(batch.ids, entry.ID)
	}
	return batch, nil
}

// foldBatch adds the sums to their rows, some in each transaction. The first one replaces the entries with one for each
// of the others, which has the others' sums until they are added.
func (r *Recorder) foldBatch(ctx context.Context, batch logBatch) error {
	if len(batch.ids) == 0 {
		return nil
	}
	list := batch.sums.list()
	first := list[:min(len(list), sumsAtOnce)]
	rest, err := logEntries(list[len(first):], sumsAtOnce, time.Unix(batch.oldest, 0))
	if err != nil {
		return err
	}
	if err := r.takeAndAdd(ctx, batch.ids, rest, first); err != nil {
		return err
	}
	for i, part := range slices.Collect(slices.Chunk(list[len(first):], sumsAtOnce)) {
		if err := r.takeAndAdd(ctx, []string{rest[i].ID}, nil, part); err != nil {
			return err
		}
	}
	return nil
}

// takeAndAdd replaces entries with others, and adds sums to their rows.
func (r *Recorder) takeAndAdd(
	ctx context.Context, taken []string, left []models.UsageLogEntry, list []counted,
) error {
	ctx, cancel := context.WithTimeout(ctx, foldTimeout)
	defer cancel()
	return r.db.Write(ctx, func(tx *models.Tx) error {
		if err := tx.TakeUsageLog(taken); err != nil {
			return err
		}
		if err := tx.AppendUsageLog(left); err != nil {
			return err
		}
		return addFolded(tx, list)
	})
}

// addFolded adds sums to their rows, and to their keys when these were used. Projects may have been deleted since.
func addFolded(tx *models.Tx, list []counted) error {
	projects := map[string]bool{}
	for i := range list {
		projects[list[i].project] = true
	}
	there, err := tx.ExistingProjects(slices.Sorted(maps.Keys(projects)))
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(slices.Clone(list), func(c counted) bool { return !there[c.project] })
	if len(list) == 0 {
		return nil
	}
	if err := tx.AddUsage(rowsOf(list)); err != nil {
		return err
	}
	last := map[string]int64{}
	for i := range list {
		if c := &list[i]; c.key != "" {
			last[c.key] = max(last[c.key], c.last)
		}
	}
	used := map[int64][]string{}
	for id, at := range last {
		used[at] = append(used[at], id)
	}
	return touch(tx, used)
}

// touch writes when keys were last used, by the second.
func touch(tx *models.Tx, used map[int64][]string) error {
	for at, ids := range used {
		if err := tx.TouchKeys(ids, time.Unix(at, 0).UTC()); err != nil {
			return err
		}
	}
	return nil
}
