// Package serving turns the rows of projects into what gateways serve: it compiles them to snapshots, follows the
// change feed, and stores the last state for a start without the database.
//
// It owns the compilation and the Feed. The configuration, its checks and its changes belong to package projects, and
// what a policy means for a call to package policy.
package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/service/relations"
)

// PollEvery is how often a replica polls for changes of other replicas that the database
// has not announced. A change of this process is in effect when its call returns.
const PollEvery = 500 * time.Millisecond

// Feed keeps a gateway and its table of keys up to date with the database.
type Feed struct {
	DB        *models.DB
	Keys      *keys.Table
	Relations *relations.Table                // nil: none are served
	PublicURL string                          // of the control plane, where app clients are issuers
	Publish   func([]*snapshot.Project) error // to the gateway; on an error the gateway serves what it had
	Log       *slog.Logger
	Poll      time.Duration // 0 means PollEvery

	mu       sync.Mutex
	last     models.Revision // every revision up to this one is served
	projects map[string]*snapshot.Project
	quarantine

	publishFailed bool  // the last time
	foreignKeys   int64 // of the complete schema

	loggedAt time.Time // when Run last logged that it cannot follow

	freshAt atomic.Int64 // Unix milliseconds of the last successful Sync
	behind  atomic.Int64 // projects in quarantine
}

// Load reads everything. The position is read first, so that the next Sync finds the
// changes that were made while Load was reading.
func (f *Feed) Load(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	var err error
	if f.foreignKeys, err = f.DB.Bulk(ctx).ForeignKeys(); err != nil {
		return fmt.Errorf("serving: read the schema: %w", err)
	}
	return f.load(ctx)
}

// errRestoring means that the database's tables are still being filled. A project
// without its tenants or rules must not be served, and no revision follows when they
// arrive.
var errRestoring = errors.New("serving: the database is still being restored")

// reload reads a restored database once it is complete.
func (f *Feed) reload(ctx context.Context, tx *models.Tx) error {
	restored, err := tx.ForeignKeys()
	if err != nil {
		return fmt.Errorf("serving: read the schema: %w", err)
	}
	if restored < f.foreignKeys {
		return errRestoring
	}
	f.Log.Error("the database was restored or replaced, or this process missed changes for too long; reading "+
		"everything again", "position", f.last.ID)
	return f.load(ctx)
}

// load reads everything into a second feed and then replaces this one's state. The old
// state is served until then.
func (f *Feed) load(ctx context.Context) error {
	fresh := &Feed{DB: f.DB, Keys: keys.NewTable(), PublicURL: f.PublicURL, Log: f.Log}
	if f.Relations != nil {
		fresh.Relations = relations.NewTable()
	}
	if err := fresh.readAll(ctx); err != nil {
		return err
	}
	f.last, f.projects, f.unreadable = fresh.last, fresh.projects, fresh.unreadable
	f.Keys.Replace(fresh.Keys)
	if f.Relations != nil {
		f.Relations.Replace(fresh.Relations)
	}
	return f.publish()
}

// Sync serves everything committed before the call.
func (f *Feed) Sync(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	changed := f.retryUnreadable(ctx)
	followed, err := f.catchUp(ctx)
	if err != nil {
		return err
	}
	if changed || followed || f.publishFailed {
		return f.publish()
	}
	f.freshAt.Store(time.Now().UnixMilli())
	f.behind.Store(int64(len(f.unreadable) + len(f.refused)))
	return nil
}

// catchUp applies all revisions after the position and reports whether more than keys
// has changed. A database without the revision at the position was restored to an
// earlier point, and may assign the ids of lost revisions again: it is read as a whole.
func (f *Feed) catchUp(ctx context.Context) (changed bool, err error) {
	tx := f.DB.Feed(ctx)
	const batch = 500
	for {
		revisions, err := tx.RevisionsFrom(f.last.ID, batch)
		if err != nil {
			return changed, fmt.Errorf("serving: read the change feed: %w", err)
		}
		more := len(revisions) == batch
		if f.last.ID > 0 {
			if len(revisions) == 0 || !revisions[0].Same(f.last) {
				return true, f.reload(ctx, tx)
			}
			revisions = revisions[1:]
		}
		together := true // until a batch fails: then each of its keys is read alone
		for len(revisions) > 0 {
			if n := keyRevisions(revisions); together && n > 0 {
				if together = f.applyKeys(tx, revisions[:n]) == nil; together {
					f.last = revisions[n-1]
					revisions = revisions[n:]
					continue
				}
			}
			whole, err := f.apply(ctx, tx, revisions[0])
			if err != nil {
				return changed, err
			}
			changed = changed || whole
			f.last = revisions[0]
			revisions = revisions[1:]
		}
		if !more {
			return changed, nil
		}
	}
}

// keyRevisions returns how many of the first revisions are each about just a key.
func keyRevisions(revisions []models.Revision) int {
	n := slices.IndexFunc(revisions, func(r models.Revision) bool { return r.KeyID == "" })
	if n < 0 {
		return len(revisions)
	}
	return n
}

// applyKeys applies revisions that are about just a key, with a few queries for all of them. One
// by one, a gateway that is 80 ms away from the database could follow three changes of keys a
// second.
func (f *Feed) applyKeys(tx *models.Tx, revisions []models.Revision) error {
	var ids []string
	for _, r := range revisions {
		if project := f.projects[r.ProjectID]; project == nil || !project.Deleted {
			ids = append(ids, r.KeyID) // restoring a deleted project reads all of its keys
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return f.Keys.LoadKeys(tx, ids...)
}

// apply applies one revision and reports whether more than a key has changed.
func (f *Feed) apply(ctx context.Context, tx *models.Tx, revision models.Revision) (whole bool, err error) {
	load := func() error {
		if len(revision.KeyIDs) > 0 {
			if project := f.projects[revision.ProjectID]; project != nil && project.Deleted {
				return nil // restoring reads all keys
			}
			return f.Keys.LoadKeys(tx, revision.KeyIDs...)
		}
		if revision.KeyID != "" {
			if project := f.projects[revision.ProjectID]; project != nil && project.Deleted {
				return nil // restoring reads all keys
			}
			return f.Keys.LoadKeys(tx, revision.KeyID)
		}
		if !revision.Relations.None() {
			return f.applyRelations(tx, revision)
		}
		whole, err = f.readProject(tx, revision.ProjectID)
		return err
	}
	failure := load()
	if failure != nil {
		failure = load() // on another connection, if the first one broke
	}
	if failure == nil {
		return whole, nil
	}
	if err := f.setAside(ctx, revision.ProjectID, failure); err != nil {
		return whole, err
	}
	if revision.KeyID != "" {
		f.Keys.Forget(revision.KeyID)
	}
	for _, id := range revision.KeyIDs {
		f.Keys.Forget(id)
	}
	return whole, nil
}

// readProject reads a project and serves it.
func (f *Feed) readProject(tx *models.Tx, id string) (whole bool, err error) {
	rows, err := rowsOf(tx, []string{id})
	if err != nil {
		return false, err
	}
	return f.serve(tx, id, rows, f.Keys)
}

// serve compiles one of the projects, and reads its keys if what they refer to has changed.
func (f *Feed) serve(tx *models.Tx, id string, rows *projectRows, keys keyLoader) (whole bool, err error) {
	project, err := rows.compile(id, f.PublicURL)
	if errors.Is(err, models.ErrNotFound) {
		delete(f.projects, id)
		delete(f.unreadable, id)
		keys.RemoveProject(id)
		f.dropRelations(id)
		return true, nil
	}
	if err != nil {
		return false, err
	}
	was := f.projects[id]
	f.projects[id] = project
	if project.Deleted {
		keys.RemoveProject(id) // also keys of its product, which open other projects
		f.dropRelations(id)
		f.release(id)
		return true, nil
	}
	if err := f.readRelations(tx, project); err != nil { // before rules that require them are served
		return true, err
	}
	moving := renaming(was, project)
	if moving != nil {
		// New addresses replace old ones now. The keys follow, and open both names until then.
		f.projects[id] = moving
		if err := f.publish(); err != nil {
			return true, err
		}
	}
	// A new display name does not read a million keys again.
	if _, held := f.unreadable[id]; held || was == nil || moving != nil || !sameForKeys(was, project) {
		if err := keys.LoadProject(tx, id); err != nil {
			return true, err
		}
	}
	f.projects[id] = project
	f.release(id)
	return true, nil
}

// renaming returns the state to serve while the keys of renamed environments or of another team are read:
// now, with the former names. It returns nil if none was renamed and the team is the same. A former name
// that another environment has is left out, since keys do not follow then.
func renaming(was, now *snapshot.Project) *snapshot.Project {
	if was == nil {
		return nil
	}
	former, used := map[string]string{}, map[string]bool{}
	for _, v := range was.Versions {
		for _, e := range v.Environments {
			former[e.ID] = cmp.Or(e.Former, e.Name)
		}
	}
	for _, v := range now.Versions {
		for _, e := range v.Environments {
			used[e.Name] = true
		}
	}
	moving, renamed := *now, was.TeamID != now.TeamID
	if renamed {
		moving.FormerTeam = was.TeamID
	}
	moving.Versions = slices.Clone(now.Versions)
	for i := range moving.Versions {
		environments := slices.Clone(moving.Versions[i].Environments)
		for j := range environments {
			e := &environments[j]
			if name := former[e.ID]; name != "" && name != e.Name {
				renamed = true
				if !used[name] {
					e.Former = name
				}
			}
		}
		moving.Versions[i].Environments = environments
	}
	if !renamed {
		return nil
	}
	return &moving
}

// sameForKeys reports whether keys of a and b are served in the same team, with the same names: those of key
// types and tenants. Keys of a deleted project are not served. With the first imported keys, former secrets matter.
func sameForKeys(a, b *snapshot.Project) bool {
	if a.Deleted != b.Deleted || a.TeamID != b.TeamID || a.ImportedKeys != b.ImportedKeys {
		return false
	}
	sameType := func(x, y snapshot.KeyType) bool {
		return x.ID == y.ID && x.Name == y.Name && slices.Equal(x.Scopes, y.Scopes)
	}
	sameTenant := func(x, y snapshot.Tenant) bool { return x.ID == y.ID && x.Name == y.Name }
	return slices.EqualFunc(a.KeyTypes, b.KeyTypes, sameType) && slices.EqualFunc(a.Tenants, b.Tenants, sameTenant)
}

// Changed serves a change after its commit. Services call it. Canceling ctx has no
// effect, since the caller may be gone by then.
func (f *Feed) Changed(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	err := f.Sync(ctx)
	if models.Unavailable(err) {
		err = f.Sync(ctx) // on another connection, if the first one broke
	}
	if err != nil {
		f.Log.Error("could not serve a change yet; retrying", "error", err)
	}
}

// Run follows the database until ctx ends: by its notices (PostgreSQL), and by polling,
// which also finds what a broken connection has missed.
func (f *Feed) Run(ctx context.Context) {
	var listening sync.WaitGroup
	defer listening.Wait()
	noticed := make(chan struct{}, 1)
	listening.Go(func() { f.listen(ctx, noticed) })
	ticker := time.NewTicker(cmp.Or(f.Poll, PollEvery))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			f.follow(ctx)
		case <-noticed:
			f.follow(ctx)
		}
	}
}

func (f *Feed) follow(ctx context.Context) {
	if err := f.Sync(ctx); err != nil && ctx.Err() == nil && time.Since(f.loggedAt) >= time.Second {
		f.loggedAt = time.Now()
		f.Log.Error("could not follow the change feed; serving the last known state", "error", err)
	}
}

// listen wakes Run at each notice. Notices that arrive together wake it once.
func (f *Feed) listen(ctx context.Context, noticed chan<- struct{}) {
	f.DB.Listen(ctx, func() {
		select {
		case noticed <- struct{}{}:
		default:
		}
	}, func(err error) {
		f.Log.Warn("could not listen for changes of other replicas; polling instead", "error", err)
	})
}

// Age is how long ago the gateway was last known to be up to date.
func (f *Feed) Age() time.Duration {
	return time.Since(time.UnixMilli(f.freshAt.Load()))
}
