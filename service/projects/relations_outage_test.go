package projects_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/models"
	"postern/service/relations"
	"postern/testkit"
	"postern/testkit/state"
)

// requiresOwners gives the project a rule for owners, so that gateways hold its relations.
func requiresOwners(t *testing.T, h *loginProject) {
	t.Helper()
	h.setRules(t, snapshot.Rules{List: []snapshot.Rule{{Methods: []string{"GET"}, Path: "/{id}", Owner: "order:{id}"}}})
}

// occupy lets no other transaction write relations until the returned function is called.
func occupy(t *testing.T, db *models.DB) func() {
	t.Helper()
	conn, err := db.SQL().Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begin := []string{"BEGIN", "LOCK TABLE relations IN EXCLUSIVE MODE"}
	if strings.HasSuffix(t.Name(), "sqlite") {
		begin = []string{"BEGIN IMMEDIATE"}
	}
	for _, statement := range begin {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK"); err != nil {
			t.Error(err)
		}
		_ = conn.Close()
	}
}

// record records a change while the database does not answer. Record does not wait until it does.
func record(t *testing.T, r *replica, change relations.Change) {
	t.Helper()
	if !r.recorder.Record(change) {
		t.Fatal("the change is lost")
	}
	if !r.owns(change.ProjectID, change.TenantID, change.User, change.Object) {
		t.Error("the process that recorded it does not decide by it")
	}
}

// written waits until a relation is in the database.
func waitForRelations(t *testing.T, db *models.DB, project string, want int64) {
	t.Helper()
	testkit.Await(t, fmt.Sprintf("%d relations in the database", want), func() (int64, bool) {
		n, err := db.Read(t.Context()).CountRelations(project)
		return n, err == nil && n == want
	})
}

// A database that is slow holds up the end of an answer for half a second at most. The relation counts at once on
// the process that recorded it, and is written later.
func TestRelations_slowDatabase(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		requiresOwners(t, h)
		r := newReplica(t, db)
		free := occupy(t, db)
		change := relations.Change{ProjectID: h.project, TenantID: h.tenant, User: "ana", Object: "order:1"}
		record(t, r, change)
		free()
		waitForRelations(t, db, h.project, 1)
		testkit.Eventually(t, "served from the table", func() bool { return r.table.Len(h.project) == 1 })
	})
}

// A database that cannot be reached is treated like a slow one. Relations recorded during the outage are written in
// order once it is back.
func TestRelations_outageOfPostgreSQL(t *testing.T) {
	for name, begin := range testkit.ByName(map[string]func(*testkit.Relay){
		"hangs":         (*testkit.Relay).Hang,
		"has gone away": func(r *testkit.Relay) { r.Cut(); r.Hang() },
	}) {
		t.Run(name, func(t *testing.T) {
			database := state.Postgres(t)
			relay := testkit.NewRelay(t, database)
			db, err := models.OpenWith(t.Context(), models.Options{
				DatabaseURL: relay.Through(t, database),
				Deadlines: models.Deadlines{
					Statement: time.Second, Lock: 500 * time.Millisecond, Idle: 400 * time.Millisecond,
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			h := newLoginProject(t, db)
			requiresOwners(t, h)
			r := newReplica(t, db)
			begin(relay)
			change := relations.Change{ProjectID: h.project, TenantID: h.tenant, User: "ana", Object: "order:1"}
			record(t, r, change)
			for n := range 3 {
				more := change
				more.Object = fmt.Sprintf("order:%d", n+2)
				record(t, r, more)
			}
			forget := change
			forget.User, forget.Forget = "", true
			if !r.recorder.Record(forget) {
				t.Error("the end of a relation is lost")
			}
			relay.Resume()
			waitForRelations(t, db, h.project, 3)
			testkit.Eventually(t, "forgotten", func() bool { return !r.owns(h.project, h.tenant, "ana", "order:1") })
			if !r.owns(h.project, h.tenant, "ana", "order:4") {
				t.Error("the last relation does not count any more")
			}
		})
	}
}
