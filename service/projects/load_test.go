package projects_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/keys"
	"postern/service/projects"
	"postern/service/serving"
	"postern/testkit/state"
)

// A start compiles many projects of rows that were read together, a change one alone.
func TestCompile_together(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		h := newLoginProject(t, db)
		named := func(i int) projects.CreateInput {
			in := authenticated
			in.Name = fmt.Sprintf("shop-%d", i)
			return in
		}
		for i := range 3 {
			h.create(t, named(i))
		}
		now := models.Now()
		err := db.Write(t.Context(), func(tx *models.Tx) error {
			return tx.Insert(
				&models.EndUser{ID: "usr_1", TenantID: h.tenant, State: "frozen", CreatedAt: now, UpdatedAt: now},
				&models.EndUser{ID: "usr_2", TenantID: h.tenant, State: "active", CreatedAt: now, UpdatedAt: now,
					GroupsLeftAt: &now},
				&models.DeletedUser{UserID: "usr_3", TenantID: h.tenant, EndsAt: now.Add(time.Hour)},
			)
		})
		if err != nil {
			t.Fatal(err)
		}
		tx := db.Read(t.Context())
		ids, err := tx.AllProjectIDs()
		if err != nil {
			t.Fatal(err)
		}
		const address = "https://postern.example"
		together, err := serving.CompileAll(tx, ids, address)
		if err != nil || len(together) != 4 {
			t.Fatalf("%d projects, %v", len(together), err)
		}
		for i, id := range ids {
			alone, err := serving.Compile(tx, id, address)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(alone, together[i]); diff != "" {
				t.Errorf("compiled alone (-) and together (+):\n%s", diff)
			}
			if id == h.project && (len(alone.Clients) != 1 || len(alone.Barred) != 2 || len(alone.GroupsLeft) != 1) {
				t.Errorf("%d app clients, %d barred users and %d who left groups, want 1, 2 and 1", len(alone.Clients),
					len(alone.Barred), len(alone.GroupsLeft))
			}
		}
		if _, err := serving.Compile(tx, "prj_none", address); !errors.Is(err, models.ErrNotFound) {
			t.Errorf("a project that is not there: %v", err)
		}
	})
}

// insertProjects inserts projects as POST /proxy creates them, each with a key.
func insertProjects(t testing.TB, db *models.DB, n int) {
	t.Helper()
	now := models.Now()
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		for i := range n {
			team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: now}
			project := models.Project{ID: models.NewID("prj"), TeamID: team.ID, Name: models.NewID("p"),
				CreatedAt: now, UpdatedAt: now}
			version := models.Version{ID: models.NewID("ver"), ProjectID: project.ID, Name: "1.0.0",
				RequestsAuth: contract.RequestsAuth{Mode: "authenticate", Methods: []string{"api_key"}},
				CreatedAt:    now, UpdatedAt: now}
			kind := models.KeyType{ID: models.NewID("kty"), ProjectID: project.ID, Name: "full", Scopes: []string{"*"}}
			tenant := models.Tenant{ID: models.NewID("tnt"), ProjectID: &project.ID, Name: "default", CreatedAt: now}
			err := tx.Insert(&team, &project, &version,
				&models.Environment{ID: models.NewID("env"), VersionID: version.ID, Name: "prod",
					Target: "https://api.example.com", CreatedAt: now, UpdatedAt: now},
				&kind, &tenant,
				&models.APIKey{ID: models.NewID("key"), ProjectID: project.ID, TenantID: tenant.ID, KeyTypeID: kind.ID,
					State: "active", Hash: []byte(fmt.Sprintf("%.25s%07d", project.ID[4:], i)), UpdatedAt: now,
					KeyDetails: contract.KeyDetails{CreatedAt: now}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, db *models.DB, want int) {
	t.Helper()
	served := 0
	feed := serving.Feed{
		DB:      db,
		Keys:    keys.NewTable(),
		Log:     slog.New(slog.DiscardHandler),
		Publish: func(all []*snapshot.Project) error { served = len(all); return nil },
	}
	if err := feed.Load(t.Context()); err != nil || served != want {
		t.Fatalf("%d projects are served, want %d: %v", served, want, err)
	}
}

func TestFeed_load(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		var statements atomic.Int64
		if err := db.OnStatement(func(context.Context) { statements.Add(1) }); err != nil {
			t.Fatal(err)
		}
		counted := func(projects int) int64 {
			before := statements.Load()
			load(t, db, projects)
			return statements.Load() - before
		}
		insertProjects(t, db, 10)
		few := counted(10)
		insertProjects(t, db, 90)
		if many := counted(100); many != few {
			t.Errorf("10 projects are read with %d statements, 100 with %d", few, many)
		}
	})
}

// BenchmarkLoad is what a process with 2,000 projects does before it is ready.
func BenchmarkLoad(b *testing.B) {
	state.EachBenchmark(b, func(b *testing.B, db *models.DB) {
		insertProjects(b, db, 2000)
		for b.Loop() {
			load(b, db, 2000)
		}
	})
}
