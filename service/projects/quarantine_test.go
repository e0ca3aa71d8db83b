package projects_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/testkit/state"
)

// logged gives the world's feed a log that the test can read.
func (w *world) logged() *strings.Builder {
	var log strings.Builder
	w.feed.Log = slog.New(slog.NewTextHandler(&log, nil))
	return &log
}

func execute(t *testing.T, db *models.DB, statement string, values ...any) {
	t.Helper()
	for _, value := range values { // ids and names of this test: nothing to escape
		statement = strings.Replace(statement, "?", fmt.Sprintf("'%v'", value), 1)
	}
	if _, err := db.SQL().ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func revise(t *testing.T, db *models.DB, project, key string) {
	t.Helper()
	err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.AddRevision(project, key, models.Now()) })
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) serves(id string) *snapshot.Project {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.served {
		if p.ID == id {
			return p
		}
	}
	return nil
}

const renamed = "Another name"

func (w *world) rename(t *testing.T, db *models.DB, project string) {
	t.Helper()
	execute(t, db, `UPDATE projects SET display_name = ? WHERE id = ?`, renamed, project)
	revise(t, db, project, "")
	if err := w.feed.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// spoil makes a project's rows unreadable until repair is called.
func spoil(t *testing.T, db *models.DB, project string) (repair func()) {
	execute(t, db, `UPDATE key_types SET scopes = '{"not": "a list"}' WHERE project_id = ?`, project)
	return func() { execute(t, db, `UPDATE key_types SET scopes = '["*"]' WHERE project_id = ?`, project) }
}

func TestQuarantine_unreadableProject(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		log := w.logged()
		broken, _ := w.create(t, authenticated)
		well, _ := w.create(t, authenticated)
		was := w.serves(broken.Project.ID)
		repair := spoil(t, db, broken.Project.ID)
		revise(t, db, broken.Project.ID, "")

		w.rename(t, db, well.Project.ID)
		if p := w.serves(well.Project.ID); p == nil || p.DisplayName != renamed {
			t.Errorf("the other project is served as %+v", p)
		}
		if w.serves(broken.Project.ID) != was {
			t.Error("the project is not served as it last was")
		}
		if key := w.key(policy.HashKey(broken.Keys["prod"].Secret.Reveal())); key.State != snapshot.KeyActive {
			t.Errorf("its key is %+v", key)
		}
		if w.feed.Behind() != 1 || strings.Count(log.String(), "could not read a project") != 1 ||
			!strings.Contains(log.String(), broken.Project.ID) {
			t.Errorf("%d projects are behind, the log says %s", w.feed.Behind(), log)
		}

		// Another replica starts at this time, and serves all that it can.
		other := newWorld(t, db)
		if other.serves(well.Project.ID) == nil || other.serves(broken.Project.ID) != nil || other.feed.Behind() != 1 {
			t.Errorf("started in quarantine: serves %+v", other.served)
		}

		repair()
		for _, one := range []*world{w, other} {
			revise(t, db, broken.Project.ID, "")
			if err := one.feed.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			if p := one.serves(broken.Project.ID); p == nil || p == was || one.feed.Behind() != 0 {
				t.Errorf("repaired: served as %+v, %d are behind", p, one.feed.Behind())
			}
			if key := one.key(policy.HashKey(broken.Keys["prod"].Secret.Reveal())); key.ID == "" {
				t.Error("repaired: its key is not known")
			}
		}
	})
}

// A key whose row cannot be read is not valid: it may have been revoked.
func TestQuarantine_unreadableKey(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		log := w.logged()
		created, _ := w.create(t, authenticated)
		well, owner := w.create(t, authenticated)
		id := created.Keys["prod"].ID
		execute(t, db, `UPDATE api_keys SET allowed_cidrs = '{"not": "a list"}' WHERE id = ?`, id)
		revise(t, db, created.Project.ID, created.Keys["prod"].ID)
		if _, err := w.keys.Revoke(t.Context(), owner, well.Keys["prod"].Path()); err != nil {
			t.Fatal(err)
		}
		if key := w.key(policy.HashKey(created.Keys["prod"].Secret.Reveal())); key.ID != "" {
			t.Errorf("the key is %+v", key)
		}
		if key := w.key(policy.HashKey(well.Keys["prod"].Secret.Reveal())); key.State != snapshot.KeyRevoked {
			t.Error("the revocation behind it did not arrive")
		}
		if w.feed.Behind() != 1 {
			t.Errorf("%d projects are behind\n%s", w.feed.Behind(), log)
		}
	})
}

// refusal is the gateway's error about one project.
type refusal struct {
	error
	id string
}

func (r refusal) ProjectID() string { return r.id }

func TestQuarantine_refusedState(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		log := w.logged()
		odd, _ := w.create(t, authenticated)
		was := w.serves(odd.Project.ID)
		take := w.feed.Publish
		w.feed.Publish = func(all []*snapshot.Project) error {
			for _, p := range all {
				if p.ID == odd.Project.ID && p.DisplayName == renamed {
					return fmt.Errorf("publish: %w", refusal{errors.New("not that name"), p.ID})
				}
			}
			return take(all)
		}
		w.rename(t, db, odd.Project.ID)
		well, _ := w.create(t, authenticated)
		w.rename(t, db, well.Project.ID)
		if p := w.serves(well.Project.ID); p == nil || p.DisplayName != renamed {
			t.Errorf("the other project is served as %+v", p)
		}
		if w.serves(odd.Project.ID) != was {
			t.Error("the project is not served as it was taken last")
		}
		if w.feed.Behind() != 1 || strings.Count(log.String(), "refused the state of a project") != 1 {
			t.Errorf("%d projects are behind, the log says %s", w.feed.Behind(), log)
		}
		w.feed.Publish = take
		revise(t, db, odd.Project.ID, "")
		if err := w.feed.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := w.serves(odd.Project.ID); p == nil || p.DisplayName != renamed || w.feed.Behind() != 0 {
			t.Errorf("when it is taken again: %+v, %d are behind", p, w.feed.Behind())
		}
	})
}
