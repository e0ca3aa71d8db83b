package projects_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/keys"
	"postern/service/relations"
	"postern/service/serving"
	"postern/testkit"
	"postern/testkit/state"
)

// replica is a process that serves a database.
type replica struct {
	feed     *serving.Feed
	table    *relations.Table
	recorder *relations.Recorder
}

// newReplica follows the database until the test ends.
func newReplica(t *testing.T, db *models.DB) *replica {
	t.Helper()
	r := &replica{table: relations.NewTable()}
	w := &serving.Feed{
		DB:        db,
		Keys:      keys.NewTable(),
		Relations: r.table,
		PublicURL: "https://postern.example",
		Log:       testLogger(t),
		Publish:   func([]*snapshot.Project) error { return nil },
	}
	r.feed = w
	if err := w.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.recorder = &relations.Recorder{DB: db, Table: r.table, Changed: w.Changed, Log: testLogger(t)}
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	running.Go(func() { r.recorder.Run(ctx) })
	t.Cleanup(func() { stop(); running.Wait() })
	return r
}

func (r *replica) owns(project, tenant, user, object string) bool {
	return r.table.Holds(project, policy.KeyOf(tenant, user, policy.OwnerRelation, object))
}

func TestRelations_replicas(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		ordered := snapshot.Rules{List: []snapshot.Rule{{
			Methods: []string{"GET"},
			Path:    "/orders/{id}",
			Owner:   "order:{id}",
		}}}
		h.setRules(t, ordered)
		one, two := newReplica(t, db), newReplica(t, db)
		one.recorder.Wait = time.Minute
		service := &relations.Service{DB: db, Changed: one.feed.Changed}
		of := contract.ProjectPath{Project: h.project}
		change := relations.Change{ProjectID: h.project, TenantID: h.tenant, User: "ana", Object: "order:1"}
		ids := func(r *replica) func() bool {
			return func() bool { return r.owns(h.project, h.tenant, "ana", "order:1") }
		}
		t.Run("remembered", func(t *testing.T) {
			if !one.recorder.Record(change) || !ids(one)() {
				t.Fatal("the process that recorded it does not decide by it")
			}
			if n, err := db.Read(t.Context()).CountRelations(h.project); err != nil || n != 1 {
				t.Errorf("%d relations are written when Record returns, want 1: %v", n, err)
			}
			testkit.Eventually(t, "the other replica", ids(two))
			if one.owns(h.project, "tnt_other", "ana", "order:1") ||
				one.owns("prj_other", h.tenant, "ana", "order:1") || one.owns(h.project, h.tenant, "bob", "order:1") {
				t.Error("it is held for others, too")
			}
		})
		t.Run("by hand, listed and removed", func(t *testing.T) {
			added, err := service.Add(t.Context(), h.owner, contract.RelationsOf(h.project,
				contract.NewRelation{User: "ana", Object: "order:1"},
				contract.NewRelation{User: "bob", Object: "order:%32"},
				contract.NewRelation{User: "ana", Object: "order:3"},
			))
			if err != nil || added != (contract.AddedRelations{Added: 2, Existing: 1}) {
				t.Fatalf("%+v, %v", added, err)
			}
			testkit.Eventually(t, "the other replica", func() bool {
				return two.owns(h.project, h.tenant, "bob", "order:2")
			})
			var seen []string
			in := contract.RelationList{
				ProjectPath:    of,
				Page:           contract.Page{Limit: 1},
				RelationFilter: contract.RelationFilter{Tenant: "default"},
			}
			for range 5 {
				list, err := service.List(t.Context(), h.owner, in)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range list.Items {
					seen = append(seen, r.User+" "+r.Object)
				}
				if in.Cursor = list.Next; in.Cursor == "" {
					break
				}
			}
			if fmt.Sprint(seen) != "[ana order:1 bob order:2 ana order:3]" {
				t.Errorf("%v", seen)
			}
			removed, err := service.Remove(t.Context(), h.owner, contract.RelationRemoval{
				ProjectPath: of, RelationFilter: contract.RelationFilter{User: "bob"},
			})
			if err != nil || removed.Removed != 1 {
				t.Fatalf("%+v, %v", removed, err)
			}
			testkit.Eventually(t, "the other replica", func() bool {
				return !two.owns(h.project, h.tenant, "bob", "order:2")
			})
		})
		t.Run("refused", func(t *testing.T) {
			for name, in := range map[string]contract.NewRelation{
				"tenant": {Tenant: "none", User: "ana", Object: "order:1"}, "object": {User: "ana", Object: "42"},
				"user": {Object: "order:1"}, "relation": {User: "ana", Object: "order:1", Relation: "reader"},
			} {
				both := contract.RelationsOf(h.project, contract.NewRelation{User: "ana", Object: "order:9"}, in)
				if _, err := service.Add(t.Context(), h.owner, both); fault.KindOf(err) != fault.Invalid {
					t.Errorf("%s: %v", name, err)
				}
			}
			if one.owns(h.project, h.tenant, "ana", "order:9") {
				t.Error("a part of a refused request was added")
			}
			all := contract.RelationRemoval{ProjectPath: of}
			if _, err := service.Remove(t.Context(), h.owner, all); fault.KindOf(err) != fault.Invalid {
				t.Errorf("everything: %v", err)
			}
			stranger := access.Principal{
				Roles: map[string]access.Role{"team_other": access.Owner}, HomeTeam: "team_other",
			}
			none := contract.RelationsOf(h.project)
			if _, err := service.Add(t.Context(), stranger, none); fault.KindOf(err) != fault.NotFound {
				t.Errorf("a stranger: %v", err)
			}
		})
		t.Run("forgotten", func(t *testing.T) {
			forget := change
			forget.User, forget.Forget = "", true
			if !two.recorder.Record(forget) {
				t.Fatal("not recorded")
			}
			testkit.Eventually(t, "the other replica", func() bool { return !ids(one)() && !ids(two)() })
		})
		t.Run("of a deleted user", func(t *testing.T) {
			user, err := h.people.CreateUser(
				t.Context(), h.owner, contract.NewUser{Email: "x@example.com"}.In(h.tenant),
			)
			if err != nil {
				t.Fatal(err)
			}
			mine := relations.Change{ProjectID: h.project, TenantID: h.tenant, User: user.ID, Object: "order:5"}
			if !one.recorder.Record(mine) || !one.owns(h.project, h.tenant, user.ID, "order:5") {
				t.Fatal("not recorded")
			}
			if _, err := h.people.DeleteUser(t.Context(), h.owner, contract.UserPath{User: user.ID}); err != nil {
				t.Fatal(err)
			}
			testkit.Eventually(t, "both", func() bool {
				return !one.owns(h.project, h.tenant, user.ID, "order:5") &&
					!two.owns(h.project, h.tenant, user.ID, "order:5")
			})
		})
		t.Run("without rules they are not held", func(t *testing.T) {
			h.setRules(t, snapshot.Rules{})
			testkit.Eventually(t, "dropped", func() bool {
				return !one.table.Loaded(h.project) && !two.table.Loaded(h.project)
			})
			h.setRules(t, ordered)
			testkit.Eventually(t, "read again", func() bool {
				return one.owns(h.project, h.tenant, "ana", "order:3") &&
					two.owns(h.project, h.tenant, "ana", "order:3")
			})
		})
	})
}

// Many at once are recorded all, in the order of each.
func TestRelations_recordedAtOnce(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		h.setRules(t, snapshot.Rules{
			List: []snapshot.Rule{{Methods: []string{"GET"}, Path: "/{id}", Owner: "order:{id}"}},
		})
		r := newReplica(t, db)
		var all sync.WaitGroup
		for n := range 300 {
			all.Go(func() {
				change := relations.Change{
					ProjectID: h.project,
					TenantID:  h.tenant,
					User:      "ana",
					Object:    fmt.Sprintf("order:%d", n),
				}
				if !r.recorder.Record(change) {
					t.Error("not recorded")
				}
				if !r.owns(h.project, h.tenant, "ana", change.Object) {
					t.Error("not held when Record returned")
				}
				if n%3 == 0 {
					change.User, change.Forget = "", true
					r.recorder.Record(change)
				}
			})
		}
		all.Wait()
		testkit.Eventually(t, "written", func() bool {
			n, err := db.Read(t.Context()).CountRelations(h.project)
			return err == nil && n == 200 && r.table.Len(h.project) == 200
		})
		invalid := relations.Change{ProjectID: "prj_none", TenantID: h.tenant, User: "ana", Object: "order:1"}
		r.recorder.Record(invalid) // it cannot be written, and must not keep others from it
		r.recorder.Record(relations.Change{ProjectID: h.project, TenantID: h.tenant, User: "ana", Object: "order:1000"})
		testkit.Eventually(t, "what follows one that is given up", func() bool { return r.table.Len(h.project) == 201 })
	})
}
