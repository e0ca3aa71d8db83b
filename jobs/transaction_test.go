package jobs_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/jobs"
	"postern/models"
	"postern/service/access"
	"postern/service/projects"
	"postern/testkit/state"
)

// lateFailure inserts the job and then returns errLate.
type lateFailure struct{ *jobs.Queue }

var errLate = errors.New("failed after the job was inserted")

func (q lateFailure) EnqueueExport(ctx context.Context, tx *models.Tx, id string) error {
	return errors.Join(q.Queue.EnqueueExport(ctx, tx, id), errLate)
}

func TestExports_lateFailure(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		created, owner := f.create(t)
		before := f.content(t, nil)
		failing := *f.exports
		failing.Jobs = lateFailure{f.queue}
		if _, err := failing.Request(t.Context(), owner, created.Project.ID, asData); !errors.Is(err, errLate) {
			t.Fatalf("got %v", err)
		}
		if diff := cmp.Diff(before, f.content(t, nil)); diff != "" {
			t.Errorf("left behind (-before +after):\n%s", diff)
		}
		e, err := f.exports.Request(t.Context(), owner, created.Project.ID, asData)
		if err != nil {
			t.Fatal(err)
		}
		after := f.content(t, nil)
		for table, added := range map[string]int{"exports": 1, "audit_entries": 1, "river_job": 1, "revisions": 0} {
			if got := len(after[table]) - len(before[table]); got != added {
				t.Errorf("export %s added %d rows to %s, want %d", e.ID, got, table, added)
			}
		}
	})
}

func TestEnqueue_transaction(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		for i, rollback := range []error{errLate, nil} {
			err := db.Write(t.Context(), func(tx *models.Tx) error {
				return errors.Join(f.queue.EnqueueExport(t.Context(), tx, "exp_1"), rollback)
			})
			if !errors.Is(err, rollback) {
				t.Fatalf("got %v", err)
			}
			if found := f.rows(t, "river_job"); len(found) != i {
				t.Errorf("after a transaction that ended with %v: %v", rollback, found)
			}
		}
	})
}

// Each change writes its revision last. If that fails, no row and no audit entry may remain.
func TestEnqueue_failedRevision(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		f := newFixture(t, db)
		created, owner := f.create(t)
		ana := f.account(t)
		changes := f.changes(t.Context(), created, owner, ana)
		before := f.content(t, nil)
		rename := func(from, to string) {
			if _, err := db.SQL().ExecContext(t.Context(), "ALTER TABLE "+from+" RENAME TO "+to); err != nil {
				t.Fatal(err)
			}
		}
		rename("revisions", "away")
		for what, change := range changes {
			if err := change(); err == nil {
				t.Errorf("%s: done without a revision", what)
			}
			if diff := cmp.Diff(before, f.content(t, map[string]string{"revisions": "away"})); diff != "" {
				t.Errorf("%s left behind (-before +after):\n%s", what, diff)
			}
		}
		rename("away", "revisions")
		if _, err := f.keys.Freeze(t.Context(), owner, created.Keys["prod"].Path()); err != nil {
			t.Errorf("once revisions can be written: %v", err)
		}
	})
}

// changes returns a change of each kind to the project.
func (f *fixture) changes(
	ctx context.Context, created projects.Created, owner, claimant access.Principal,
) map[string]func() error {
	project, version := created.Project.ID, created.Project.Versions[0]
	environment, key := version.Environments[0], created.Keys["prod"].ID
	name, mode := "Renamed", "passthrough"
	return map[string]func() error{
		"create a project": func() error {
			_, err := f.projects.Create(ctx, access.Principal{}, newProject)
			return err
		},
		"change settings": func() error {
			_, err := f.projects.Update(ctx, owner, contract.ProjectChange{DisplayName: &name}.Of(project))
			return err
		},
		"change access": func() error {
			change := contract.VersionChange{RequestsAuth: contract.RequestsAuthChange{Mode: &mode}}
			_, err := f.projects.UpdateVersion(ctx, owner, change.Of(project, version.ID))
			return err
		},
		"change a target": func() error {
			change := contract.EnvironmentChange{Target: new("https://b.example.com")}
			_, err := f.projects.UpdateEnvironment(ctx, owner, change.Of(project, version.ID, environment.ID))
			return err
		},
		"create a key": func() error {
			_, err := f.keys.Create(ctx, owner, contract.NewKey{Owner: "late"}.In(project))
			return err
		},
		"freeze": func() error {
			_, err := f.keys.Freeze(ctx, owner, contract.KeyPath{Key: key})
			return err
		},
		"rotate": func() error {
			_, err := f.keys.Rotate(ctx, owner, contract.KeyRotation{KeyPath: contract.KeyPath{Key: key}})
			return err
		},
		"revoke": func() error {
			_, err := f.keys.Revoke(ctx, owner, contract.KeyPath{Key: key})
			return err
		},
		"claim": func() error {
			_, err := f.accounts.Claim(ctx, claimant, contract.ClaimOf(created.Workspace.ClaimCode, ""))
			return err
		},
	}
}
