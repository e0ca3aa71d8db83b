package projects_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/projects"
	"postern/service/serving"
	"postern/testkit"
	"postern/testkit/state"
)

// purges counts the purges that were queued.
type purges struct{ queued int }

func (p *purges) EnqueuePurge(context.Context, *models.Tx) error { p.queued++; return nil }

// owned creates a project in a claimed team and returns its owner.
func (w *world) owned(t *testing.T, in projects.CreateInput) (projects.Created, access.Principal) {
	t.Helper()
	created, p := w.create(t, in)
	p.Account, p.Roles = "acc_owner", map[string]access.Role{created.Workspace.Team: access.Owner}
	return created, p
}

// binned is a request to delete a project to the trash.
func binned(id string) contract.ProjectRemoval {
	return contract.ProjectRemoval{ProjectPath: contract.ProjectPath{Project: id}}
}

// erased is a request to delete a project permanently.
func erased(id, confirm string) contract.ProjectRemoval {
	in := binned(id)
	in.Now, in.Confirm = true, confirm
	return in
}

// retarget changes the target of an environment.
func (w *world) retarget(
	t *testing.T, p access.Principal, at contract.EnvironmentPath, etag, target string,
) error {
	t.Helper()
	_, err := w.UpdateEnvironment(t.Context(), p, contract.EnvironmentUpdate{
		EnvironmentPath: at,
		Condition:       contract.Condition{IfMatch: etag},
		Body:            contract.EnvironmentChange{Target: &target},
	})
	return err
}

func TestDelete(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.owned(t, authenticated)
		id, key := created.Project.ID, created.Keys["prod"].Secret.Reveal()
		deleted, err := w.Delete(t.Context(), p, binned(id))
		if err != nil {
			t.Fatal(err)
		}
		if deleted.Deleted == nil {
			t.Fatal("it is not in the trash")
		}
		if got := deleted.Deleted.PurgeAt.Sub(deleted.Deleted.Since); got != projects.BinTime {
			t.Errorf("it stays in the trash for %s, want %s", got, projects.BinTime)
		}
		if !w.project(t, id).Deleted {
			t.Error("the gateway serves it")
		}
		if code, _ := w.answer(t, id, key); code != "invalid_key" {
			t.Errorf("its key is answered %q, want invalid_key", code)
		}
		again, err := w.Delete(t.Context(), p, binned(id))
		if err != nil || again.Deleted == nil || !again.Deleted.PurgeAt.Equal(deleted.Deleted.PurgeAt) {
			t.Errorf("deleted again: %+v, %v, want the same end", again.Deleted, err)
		}
		for state, want := range map[string]int{"": 1, contract.ProjectServed: 0, contract.ProjectDeleted: 1} {
			list, err := w.List(t.Context(), p, contract.ProjectList{State: state})
			if err != nil || len(list.Items) != want {
				t.Errorf("%q lists %d projects, %v, want %d", state, len(list.Items), err, want)
			}
		}
		restored, err := w.Restore(t.Context(), p, created.Project.Path())
		if err != nil || restored.Deleted != nil {
			t.Fatalf("restored: %+v, %v", restored.Deleted, err)
		}
		if code, _ := w.answer(t, id, key); code != "" || w.project(t, id).Deleted {
			t.Errorf("restored, its key is answered %q", code)
		}
	})
}

// The contents of a project in the trash can be read, but not changed.
func TestBin_changesRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.owned(t, authenticated)
		id := created.Project.ID
		if _, err := w.Delete(t.Context(), p, binned(id)); err != nil {
			t.Fatal(err)
		}
		name := "Shop"
		version := created.Project.Versions[0]
		tenant := w.project(t, id).Tenants[0].ID
		for what, change := range testkit.ByName(map[string]func() error{
			"settings": func() error {
				_, err := w.Update(t.Context(), p, contract.ProjectChange{DisplayName: &name}.Of(id))
				return err
			},
			"target": func() error {
				return w.retarget(t, p, contract.EnvironmentOf(id, version.ID, "prod"), "", "https://b.example")
			},
			"a version": func() error {
				_, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2.0.0"}.In(id))
				return err
			},
			"a key type": func() error {
				_, err := w.CreateKeyType(t.Context(), p, contract.KeyTypeCreation{
					ProjectPath: contract.ProjectPath{Project: id},
					Body:        contract.NewKeyType{Name: "gold", Scopes: []string{"read"}},
				})
				return err
			},
			"a new key": func() error {
				_, err := w.keys.Create(t.Context(), p, contract.NewKey{Owner: "app"}.In(id))
				return err
			},
			"a key": func() error {
				_, err := w.keys.Revoke(t.Context(), p, created.Keys["prod"].Path())
				return err
			},
			"its own tenant": func() error {
				_, err := w.UpdateTenant(t.Context(), p, contract.TenantUpdate{
					TenantPath: contract.TenantPath{Tenant: tenant},
					Body:       contract.TenantChange{DisplayName: &name},
				})
				return err
			},
		}) {
			if err := change(); fault.CodeOf(err) != "project_deleted" || fault.KindOf(err) != fault.Conflict {
				t.Errorf("%s: %v, want the conflict project_deleted", what, err)
			}
		}
		if _, err := w.keys.Get(t.Context(), p, created.Keys["prod"].Path()); err != nil {
			t.Errorf("read a key: %v", err)
		}
		err := db.Consistent(t.Context(), func(tx *models.Tx) error {
			_, err := serving.CompileWhole(tx, id, "https://postern.example")
			return err
		})
		if err != nil {
			t.Errorf("compile it for an export: %v", err)
		}
	})
}

// A product's key that was created in a deleted project is not valid for the other projects,
// here and in their exports, until the project is restored.
func TestDelete_keysOfProduct(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		in := authenticated
		in.Name, in.Product = "shop", "store"
		shop, p := w.create(t, in)
		in.Name = "books"
		books, err := w.Create(t.Context(), p, in)
		if err != nil {
			t.Fatal(err)
		}
		both := w.mint(t, p, "shop", contract.NewKey{Owner: "partner", Product: "store"})
		opening := func() (ids []string) {
			tx := db.Read(t.Context())
			row, err := tx.ProjectByID(books.Project.ID)
			if err == nil {
				err = tx.ScanKeysOf(row.ID, row.ProductID, func(k *models.APIKey) error {
					ids = append(ids, k.ID)
					return nil
				})
			}
			if err != nil {
				t.Fatal(err)
			}
			return ids
		}
		before := w.project(t, books.Project.ID).Revision
		if _, err := w.Delete(t.Context(), p, binned(shop.Project.ID)); err != nil {
			t.Fatal(err)
		}
		if code, _ := w.answer(t, books.Project.ID, both.Secret.Reveal()); code != "invalid_key" {
			t.Errorf("in the other project: %q, want invalid_key", code)
		}
		if slices.Contains(opening(), both.ID) || slices.Contains(w.list(t, p, "books"), both.ID) {
			t.Error("the other project still lists or exports it")
		}
		if after := w.project(t, books.Project.ID).Revision; after <= before {
			t.Errorf("the other project's revision is %d, want one after %d", after, before)
		}
		if _, err := w.Restore(t.Context(), p, shop.Project.Path()); err != nil {
			t.Fatal(err)
		}
		if code, _ := w.answer(t, books.Project.ID, both.Secret.Reveal()); code != "" {
			t.Errorf("restored: %q, want it let through", code)
		}
		if !slices.Contains(opening(), both.ID) {
			t.Error("restored, the other project does not export it")
		}
	})
}

func TestErase(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		queue := &purges{}
		w.Purger = queue
		created, p := w.owned(t, authenticated)
		id := created.Project.ID
		member := p
		member.Roles = map[string]access.Role{created.Workspace.Team: access.Member}
		if _, err := w.Delete(t.Context(), member, erased(id, created.Project.Name)); fault.KindOf(
			err,
		) != fault.Forbidden {
			t.Errorf("a member: %v, want it forbidden", err)
		}
		if _, err := w.Delete(t.Context(), p, erased(id, id)); fault.KindOf(err) != fault.Invalid {
			t.Errorf("with another name: %v, want wrong_confirmation", err)
		}
		if queue.queued != 0 || w.project(t, id).Deleted {
			t.Fatal("what was refused has an effect")
		}
		if _, err := w.Delete(t.Context(), p, erased(id, created.Project.Name)); err != nil {
			t.Fatal(err)
		}
		if queue.queued != 1 {
			t.Errorf("%d purges are queued, want 1", queue.queued)
		}
		if !w.project(t, id).Deleted {
			t.Error("the gateway serves it until the purge")
		}
		if _, err := w.Get(t.Context(), p, id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("read: %v, want not found", err)
		}
		if _, err := w.Restore(t.Context(), p, created.Project.Path()); fault.KindOf(err) != fault.NotFound {
			t.Errorf("restore: %v, want not found", err)
		}
		list, err := w.List(t.Context(), p, contract.ProjectList{})
		if err != nil || len(list.Items) != 0 {
			t.Errorf("%d projects are listed, %v", len(list.Items), err)
		}
	})
}

// If many requests come at once, one deletes the project, and all get the same answer.
func TestDelete_race(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.owned(t, authenticated)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				_, err := w.Delete(t.Context(), p, binned(created.Project.ID))
				if err != nil && fault.CodeOf(err) != "changed_concurrently" {
					t.Error(err)
				}
			})
		}
		all.Wait()
		entries, err := db.Read(t.Context()).AuditOf(created.Workspace.Team, 100)
		if err != nil {
			t.Fatal(err)
		}
		deleted := 0
		for _, e := range entries {
			if e.Action == string(access.ProjectDelete) {
				deleted++
			}
		}
		if deleted != 1 {
			t.Errorf("%d deletions are in the audit log, want 1", deleted)
		}
	})
}

// A key that a slower transaction created after the deletion is not served.
func TestRestore_keyCreatedDuringDeletion(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		created, p := w.owned(t, authenticated)
		id, key := created.Project.ID, created.Keys["prod"]
		if _, err := w.Delete(t.Context(), p, binned(id)); err != nil {
			t.Fatal(err)
		}
		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.AddRevision(id, key.ID, models.Now()) })
		if err != nil {
			t.Fatal(err)
		}
		w.feed.Changed(t.Context())
		if code, _ := w.answer(t, id, key.Secret.Reveal()); code != "invalid_key" {
			t.Errorf("the key is answered %q, want invalid_key", code)
		}
	})
}
