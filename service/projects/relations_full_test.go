package projects_test

import (
	"fmt"
	"testing"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/relations"
	"postern/testkit/state"
)

// Relations are in the memory of every replica, so that an unclaimed workspace has a bound.
func TestRelations_unclaimedWorkspace(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		r := newReplica(t, db)
		service := &relations.Service{DB: db, Changed: r.feed.Changed}
		add := func(from, to int) (int64, error) {
			var list []contract.NewRelation
			for n := from; n < to; n++ {
				list = append(list, contract.NewRelation{User: "ana", Object: fmt.Sprintf("order:%d", n)})
			}
			added, err := service.Add(t.Context(), h.owner, contract.RelationsOf(h.project, list...))
			return added.Added, err
		}
		if _, err := add(0, 9_999); err != nil {
			t.Fatal(err)
		}
		if _, err := add(9_998, 10_001); fault.CodeOf(err) != "workspace_full" {
			t.Errorf("one too many by hand: %v", err)
		}
		if added, err := add(9_998, 10_000); added != 1 || err != nil {
			t.Errorf("the last one: %d, %v", added, err)
		}
		if added, err := add(0, 10); added != 0 || err != nil {
			t.Errorf("those that exist: %d, %v", added, err)
		}
		r.recorder.Record(relations.Change{ProjectID: h.project, TenantID: h.tenant, User: "ana", Object: "order:late"})
		count := func() int64 {
			t.Helper()
			n, err := db.Read(t.Context()).CountRelations(h.project)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := count(); n != 10_000 {
			t.Errorf("%d relations, want 10000", n)
		}
		_, err := db.SQL().ExecContext(t.Context(), "UPDATE teams SET claimed_at = created_at WHERE id = $1",
			h.owner.HomeTeam)
		if err != nil {
			t.Fatal(err)
		}
		r.recorder.Record(relations.Change{ProjectID: h.project, TenantID: h.tenant, User: "ana", Object: "order:late"})
		if n := count(); n != 10_001 {
			t.Errorf("%d relations after the claim, want 10001", n)
		}
	})
}
