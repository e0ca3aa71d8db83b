package serving

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"postern/core/snapshot"
	"postern/models"
)

// quarantine holds the projects that cannot be updated: their rows cannot be read, or
// the gateway refuses their state. Each is served as it was before, without delaying the
// changes of others.
type quarantine struct {
	unreadable map[string]string            // project id -> why its rows cannot be read
	triedAt    time.Time                    // when the unreadable ones were last tried again
	refused    map[*snapshot.Project]string // -> why the gateway refuses it
	lastGood   map[string]*snapshot.Project // project id -> what the gateway last accepted
}

// retryEvery is how often unreadable projects are tried again without a change of
// theirs. It is long because all of their keys may have to be read.
const retryEvery = 30 * time.Second

// setAside records that a project's rows cannot be read. A failure that concerns all
// projects is returned: a database that does not answer, or a right that its role lacks.
func (f *Feed) setAside(ctx context.Context, id string, cause error) error {
	if cause == nil {
		return nil
	}
	if ctx.Err() != nil || models.Forbidden(cause) || !f.answers(ctx, cause) {
		return cause
	}
	if f.unreadable == nil {
		f.unreadable = map[string]string{}
	}
	if text := cause.Error(); f.unreadable[id] != text {
		f.unreadable[id] = text
		f.Log.Error("could not read a project; serving its last known state", "project", id, "error", cause)
	}
	return nil
}

// pingWithin is how long the database has to show that it answers at all.
const pingWithin = time.Second

// answers reports whether the database works although reading a project failed. The
// timeout of one statement does not mean that others time out.
func (f *Feed) answers(ctx context.Context, cause error) bool {
	if models.Unavailable(cause) && !models.TimedOut(cause) {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, pingWithin)
	defer stop()
	return f.DB.Ping(ctx) == nil
}

func (f *Feed) release(id string) {
	if _, held := f.unreadable[id]; held {
		delete(f.unreadable, id)
		f.Log.Info("a project can be read again", "project", id)
	}
}

// retryUnreadable reads the unreadable projects again, without the usual time limit, and
// reports whether one is up to date now.
func (f *Feed) retryUnreadable(ctx context.Context) (changed bool) {
	if len(f.unreadable) == 0 || time.Since(f.triedAt) < retryEvery {
		return false
	}
	f.triedAt = time.Now()
	for _, id := range slices.Sorted(maps.Keys(f.unreadable)) {
		whole, err := f.readProject(f.DB.Bulk(ctx), id)
		if f.setAside(ctx, id, err) != nil {
			return changed
		}
		changed = changed || whole
	}
	return changed
}

// publish publishes all projects to the gateway. A project that the gateway refuses is
// replaced by the state that it last accepted, or left out if there is none.
func (f *Feed) publish() error {
	was := f.refused
	f.refused = map[*snapshot.Project]string{}
	for {
		all := f.servable()
		err := f.Publish(all)
		if err == nil {
			f.published(all)
			return nil
		}
		blamed := projectOf(err, all)
		if blamed == nil || f.refused[blamed] != "" {
			f.publishFailed = true
			return fmt.Errorf("serving: publish to the gateway: %w", err)
		}
		if f.refused[blamed] = err.Error(); was[blamed] == "" {
			f.Log.Error("the gateway refused the state of a project; serving the previous one",
				"project", blamed.ID, "error", err)
		}
	}
}

// servable returns the newest state of each project that the gateway has not refused,
// sorted by id.
func (f *Feed) servable() []*snapshot.Project {
	all := make([]*snapshot.Project, 0, len(f.projects))
	for _, id := range slices.Sorted(maps.Keys(f.projects)) {
		for _, p := range []*snapshot.Project{f.projects[id], f.lastGood[id]} {
			if p != nil && f.refused[p] == "" {
				all = append(all, p)
				break
			}
		}
	}
	return all
}

func (f *Feed) published(all []*snapshot.Project) {
	f.lastGood = make(map[string]*snapshot.Project, len(all))
	for _, p := range all {
		f.lastGood[p.ID] = p
	}
	f.publishFailed = false
	f.freshAt.Store(time.Now().UnixMilli())
	f.behind.Store(int64(len(f.unreadable) + len(f.refused)))
}

// projectOf returns the project that the gateway's error names, nil if it names none.
// The error has a method for it, because this package does not import the gateway.
func projectOf(err error, all []*snapshot.Project) *snapshot.Project {
	about, ok := errors.AsType[interface {
		error
		ProjectID() string
	}](err)
	if !ok {
		return nil
	}
	for _, p := range all {
		if p.ID == about.ProjectID() {
			return p
		}
	}
	return nil
}

// Behind returns the number of projects whose last changes are not served.
func (f *Feed) Behind() int { return int(f.behind.Load()) }
