package projects

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

// quarantine is what the feed knows of projects that cannot be brought up to date:
// rows that cannot be read, or a state that the gateway refuses. Each of them is
// served as it last was, and keeps no other from its changes.
type quarantine struct {
	held    map[string]string            // by id: why its rows cannot be read
	triedAt time.Time                    // when they were last tried again
	refused map[*snapshot.Project]string // what the gateway would not have, and why
	good    map[string]*snapshot.Project // by id: what it took last
}

// tryHeldEvery is how often projects whose rows cannot be read are tried again
// without a change of theirs: all of their keys may have to be read for it.
const tryHeldEvery = 30 * time.Second

// hold sets a project aside whose rows cannot be read. What ails all of them, such
// as a database that does not answer, is returned.
func (f *Feed) hold(ctx context.Context, id string, cause error) error {
	if cause == nil {
		return nil
	}
	if ctx.Err() != nil || !f.answers(ctx, cause) {
		return cause
	}
	if f.held == nil {
		f.held = map[string]string{}
	}
	if text := cause.Error(); f.held[id] != text {
		f.held[id] = text
		f.Log.Error("a project cannot be read, serving its last known state", "project", id, "error", cause)
	}
	return nil
}

// pingWithin is how long the database has to show that it answers at all.
const pingWithin = time.Second

// answers reports whether the database is in order although reading a project
// failed. A statement that took too long says nothing about other projects.
func (f *Feed) answers(ctx context.Context, cause error) bool {
	if models.Unavailable(cause) && !models.TimedOut(cause) {
		return false
	}
	ctx, stop := context.WithTimeout(ctx, pingWithin)
	defer stop()
	return f.DB.Ping(ctx) == nil
}

func (f *Feed) release(id string) {
	if _, held := f.held[id]; held {
		delete(f.held, id)
		f.Log.Info("a project can be read again", "project", id)
	}
}

// tryHeld reads those projects once more, with as much time as it takes, and
// reports whether one is up to date again.
func (f *Feed) tryHeld(ctx context.Context) (changed bool) {
	if len(f.held) == 0 || time.Since(f.triedAt) < tryHeldEvery {
		return false
	}
	f.triedAt = time.Now()
	for _, id := range slices.Sorted(maps.Keys(f.held)) {
		whole, err := f.bring(f.DB.Bulk(ctx), id)
		if f.hold(ctx, id, err) != nil {
			return changed
		}
		changed = changed || whole
	}
	return changed
}

// publish hands everything to the gateway: of a project whose state it refuses the
// one that it took last, or nothing of it where there is none.
func (f *Feed) publish() error {
	was := f.refused
	f.refused = map[*snapshot.Project]string{}
	for {
		all := f.offer()
		err := f.Publish(all)
		if err == nil {
			f.accepted(all)
			return nil
		}
		culprit := culpritOf(err, all)
		if culprit == nil || f.refused[culprit] != "" {
			f.unserved = true
			return fmt.Errorf("projects: publish to the gateway: %w", err)
		}
		if f.refused[culprit] = err.Error(); was[culprit] == "" {
			f.Log.Error(
				"the gateway refuses a project's state, serving the one before", "project", culprit.ID,
				"error", err,
			)
		}
	}
}

// offer is what can be served of each project, by id.
func (f *Feed) offer() []*snapshot.Project {
	all := make([]*snapshot.Project, 0, len(f.projects))
	for _, id := range slices.Sorted(maps.Keys(f.projects)) {
		for _, p := range []*snapshot.Project{f.projects[id], f.good[id]} {
			if p != nil && f.refused[p] == "" {
				all = append(all, p)
				break
			}
		}
	}
	return all
}

func (f *Feed) accepted(all []*snapshot.Project) {
	f.good = make(map[string]*snapshot.Project, len(all))
	for _, p := range all {
		f.good[p.ID] = p
	}
	f.unserved = false
	f.freshAt.Store(time.Now().UnixMilli())
	f.behind.Store(int64(len(f.held) + len(f.refused)))
}

// culpritOf is the project that the gateway's error is about, nil when it is about
// none of them. The gateway says so by a method, since rules do not see it.
func culpritOf(err error, all []*snapshot.Project) *snapshot.Project {
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

// Behind is how many projects are not served as their rows are now.
func (f *Feed) Behind() int { return int(f.behind.Load()) }
