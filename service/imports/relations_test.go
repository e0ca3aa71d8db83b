package imports_test

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/testkit/state"
)

func owns(t snapshot.Tenant, user, object string) snapshot.Relation {
	return snapshot.Relation{TenantID: t.ID, Tenant: t.Name, User: user, Relation: "owner", Object: object}
}

func tenantNamed(p *snapshot.Project, name string) snapshot.Tenant {
	return p.Tenants[slices.IndexFunc(p.Tenants, func(t snapshot.Tenant) bool { return t.Name == name })]
}

// ownersOf lists the users of a project's relations by their objects.
func (w *world) ownersOf(t *testing.T, project, tenant string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := w.DB.Read(t.Context()).ScanRelations(project, func(r *models.Relation) error {
		if r.TenantID == tenant {
			out[r.Object] = r.User
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Owners follow the users and app clients that get new ids. A tenant that the team has already keeps its people,
// so that nothing belongs to those of the zip's.
func TestImport_relations(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		m := sample(t)
		m.project.API.Audience = "" // which one project of the team has
		own, acme := tenantNamed(m.project, "default"), tenantNamed(m.project, "acme")
		client := m.project.Clients[slices.IndexFunc(m.project.Clients, func(c snapshot.AppClient) bool {
			return c.TenantID == own.ID
		})].ID
		user, colleague := m.users[own.ID][0].ID, m.users[acme.ID][0].ID
		gone := models.NewID("usr")
		m.relations = []snapshot.Relation{
			owns(acme, "billing-service", "order:1"), owns(acme, colleague, "order:2"), owns(acme, gone, "order:3"),
			owns(own, user, "order:1"), owns(own, client, "order:2"), owns(own, "billing-service", "order:3"),
			owns(own, "ana (https://idp.example)", "order:4"),
		}
		if own.ID < acme.ID {
			t.Fatal("the sample's tenants are in another order")
		}
		zip := m.zip(t, bundle.FormatGateway)
		first := w.take(t, zip, contract.NewImport{})
		if first.Made.Relations != 7 || slices.Contains(codes(first.LeftOut), "relations_without_user") {
			t.Errorf("an empty server: %+v, %v", first.Made, codes(first.LeftOut))
		}
		if got := w.ownersOf(t, first.Project.ID, own.ID); got["order:1"] != user || got["order:2"] != client {
			t.Errorf("an empty server: %v", got)
		}
		would := w.take(t, zip, contract.NewImport{Name: "copy", DryRun: true})
		second := w.take(t, zip, contract.NewImport{Name: "copy"})
		if second.Made.Relations != 6 || would.Made != second.Made {
			t.Errorf("next to the original: %+v, and in a dry run %+v", second.Made, would.Made)
		}
		at := slices.IndexFunc(
			second.LeftOut,
			func(i contract.LeftOut) bool { return i.Code == "relations_without_user" },
		)
		if at < 0 || second.LeftOut[at].Subject != "1" {
			t.Errorf("left out next to the original: %+v", second.LeftOut)
		}
		if got := w.ownersOf(t, second.Project.ID, acme.ID); len(got) != 2 || got["order:2"] != colleague {
			t.Errorf("in the tenant that both projects have: %v", got)
		}
		tenants, err := db.Read(t.Context()).TenantsOf(second.Project.ID)
		if err != nil {
			t.Fatal(err)
		}
		here := tenants[slices.IndexFunc(tenants, func(t models.Tenant) bool { return t.ProjectID != nil })].ID
		got := w.ownersOf(t, second.Project.ID, here)
		if got["order:1"] == user || got["order:2"] == client || got["order:3"] != "billing-service" ||
			got["order:4"] != "ana (https://idp.example)" {
			t.Errorf("in its own tenant: %v", got)
		}
		people, err := db.Read(t.Context()).EndUsersWithin(here, []string{got["order:1"]})
		if err != nil || len(people) != 1 {
			t.Errorf("%s is not a user of the tenant: %v", got["order:1"], err)
		}
		if c, err := db.Read(t.Context()).AppClientByID(got["order:2"]); err != nil || c.TenantID != here {
			t.Errorf("%s is not an app client of the tenant: %v", got["order:2"], err)
		}
	})
}

func TestImport_invalidRelationUsers(t *testing.T) {
	for name, user := range map[string]string{"NUL": "a\x00b", "too long": strings.Repeat("u", 4097)} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, state.OpenSQLite(t))
			m := sample(t)
			m.relations = []snapshot.Relation{owns(tenantNamed(m.project, "default"), user, "order:1")}
			refusal := w.refused(t, m.zip(t, bundle.FormatData), contract.NewImport{})
			if refusal.Kind != fault.Invalid || len(refusal.Fields) != 1 ||
				refusal.Fields[0].Pointer != "/authz/relations.jsonl/order:1/user" {
				t.Errorf("%v %+v", refusal, refusal.Fields)
			}
		})
	}
}

// Many relations are imported without being held in memory: a million take ten times as long and no more memory.
func TestImport_manyRelations(t *testing.T) {
	const many = 100_000
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		m := sample(t)
		m.project.API.Audience = ""
		own := tenantNamed(m.project, "default")
		target, err := targets.For(bundle.FormatData)
		if err != nil {
			t.Fatal(err)
		}
		var zip bytes.Buffer
		_, err = bundle.Write(t.Context(), &zip, bundle.Input{
			Project: m.project,
			Relations: func(context.Context) iter.Seq2[snapshot.Relation, error] {
				return func(yield func(snapshot.Relation, error) bool) {
					for n := range many {
						if !yield(owns(own, "billing-service", fmt.Sprintf("order:%09d", n)), nil) {
							return
						}
					}
				}
			},
			Keys: func(context.Context) iter.Seq2[snapshot.Key, error] { return each(m.keys[:0]) },
			Users: func(_ context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error] {
				return each(m.users[t.ID])
			},
			Options:   bundle.Options{Format: bundle.FormatData, Consumers: true},
			Target:    target,
			AddressOf: func(v, e string) string { return "http://localhost:8090/" + v + "/" + e },
			Generator: "postern test",
		})
		if err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		var before, peak runtime.MemStats
		runtime.ReadMemStats(&before)
		done := make(chan uint64)
		stop := make(chan struct{})
		go func() {
			var most uint64
			for {
				select {
				case <-stop:
					done <- most
					return
				case <-time.After(50 * time.Millisecond):
					runtime.ReadMemStats(&peak)
					most = max(most, peak.HeapInuse)
				}
			}
		}()
		began := time.Now()
		out := w.take(t, zip.Bytes(), contract.NewImport{})
		took := time.Since(began)
		close(stop)
		grown := int64(<-done) - int64(before.HeapInuse)
		t.Logf("%d relations in %v, %d MiB more memory", many, took.Round(time.Millisecond), grown>>20)
		if n, err := db.Read(t.Context()).CountRelations(out.Project.ID); err != nil || n != many {
			t.Errorf("%d relations, %v", n, err)
		}
		if grown > 64<<20 {
			t.Errorf("%d MiB more memory", grown>>20)
		}
	})
}
