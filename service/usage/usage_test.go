package usage_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/usage"
	"postern/testkit"
	"postern/testkit/state"
)

// patience bounds every wait of a test; it is reached only when the test fails.
const patience = time.Minute

type world struct {
	*usage.Service
	t       testing.TB
	db      *models.DB
	owner   access.Principal
	project models.Project
	key     models.APIKey
	filter  contract.RequestFilter // of readers that follow
}

func newWorld(t testing.TB, db *models.DB) *world {
	t.Helper()
	now := models.Now()
	team := models.Team{ID: models.NewID("team"), Name: "t", CreatedAt: now}
	w := &world{
		t:     t,
		db:    db,
		owner: access.Principal{Account: "acc_1", Roles: map[string]access.Role{team.ID: access.Viewer}},
	}
	w.project = models.Project{ID: models.NewID("prj"), TeamID: team.ID, Name: "shop", CreatedAt: now, UpdatedAt: now}
	version := models.Version{
		ID:           models.NewID("ver"),
		ProjectID:    w.project.ID,
		Name:         "1.0.0",
		RequestsAuth: contract.RequestsAuth{Methods: []string{"api_key"}},
		CreatedAt:    now,
		UpdatedAt:    now,
	}
	tenant := models.Tenant{ID: models.NewID("tnt"), ProjectID: &w.project.ID, Name: "default", CreatedAt: now}
	kind := models.KeyType{ID: models.NewID("kty"), ProjectID: w.project.ID, Name: "full", Scopes: []string{"*"}}
	w.key = models.APIKey{
		ID:         models.NewID("key"),
		ProjectID:  w.project.ID,
		TenantID:   tenant.ID,
		KeyTypeID:  kind.ID,
		Hash:       []byte{1},
		UpdatedAt:  now,
		KeyDetails: contract.KeyDetails{CreatedAt: now},
	}
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		return tx.Insert(&team, &w.project, &version, &models.Environment{
			ID:        "env_prod",
			VersionID: version.ID,
			Name:      "prod",
			CreatedAt: now,
			UpdatedAt: now,
		},
			&tenant, &kind, &w.key)
	})
	if err != nil {
		t.Fatal(err)
	}
	w.Service = &usage.Service{DB: db, Recorder: w.recorder()}
	return w
}

// recorder is that of another process on the same database.
func (w *world) recorder() *usage.Recorder {
	return usage.NewRecorder(w.db, slog.New(slog.NewTextHandler(w.t.Output(), nil)))
}

// call is one that was let through with the project's key.
func (w *world) call(at time.Time) usage.Call {
	return usage.Call{
		ProjectID:     w.project.ID,
		EnvironmentID: "env_prod",
		Owner:         "billing",
		CredentialID:  w.key.ID,
		RemoteIP:      "192.0.2.7",
		Method:        "GET",
		Path:          "/shop/1.0.0/prod/orders",
		Route:         "/*",
		Status:        200,
		Step:          "forward",
		Forwarded:     true,
		BytesIn:       1,
		BytesOut:      10,
		Start:         at,
		Duration:      time.Millisecond,
	}
}

func (w *world) refused(at time.Time) usage.Call {
	c := w.call(at)
	c.Owner, c.CredentialID, c.Status, c.Code, c.Step, c.BytesIn = "", "", 401, "invalid_key", "access", 0
	c.Forwarded = false
	return c
}

func (w *world) ask(in contract.UsageQuery) contract.Usage {
	w.t.Helper()
	in.Project = "shop"
	got, err := w.Usage(w.t.Context(), w.owner, in)
	if err != nil {
		w.t.Fatal(err)
	}
	return got
}

// shop is the project of a world.
var shop = contract.ProjectPath{Project: "shop"}

// list asks for the requests that the filter selects.
func (w *world) list(page contract.Page) contract.RequestList {
	return contract.RequestList{ProjectPath: shop, Page: page, RequestFilter: w.filter}
}

// rows is how many calls are in the database.
func (w *world) rows() int64 {
	w.t.Helper()
	sums, err := w.db.Read(w.t.Context()).UsageOf(w.project.ID, 0, 1<<40, nil, 1)
	if err != nil {
		w.t.Fatal(err)
	}
	return sums[0].Calls
}

func TestRecorder_concurrent(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		const callers, each = 8, 500
		replica := w.recorder()
		ctx, stop := context.WithCancel(t.Context())
		var running, calling sync.WaitGroup
		for _, r := range []*usage.Recorder{w.Recorder, replica} {
			running.Go(func() { r.Run(ctx) })
			for range callers {
				calling.Go(func() {
					for range each {
						r.Observe(w.call(time.Now()))
						r.Observe(w.refused(time.Now()))
					}
				})
			}
		}
		for range 20 {
			if err := replica.Flush(t.Context()); err != nil {
				t.Error(err)
			}
			w.ask(contract.UsageQuery{})
		}
		calling.Wait()
		stop()
		running.Wait()
		for _, r := range []*usage.Recorder{w.Recorder, replica} {
			if err := r.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		const calls = 2 * callers * each
		got := w.ask(contract.UsageQuery{GroupBy: []string{contract.ByStatusClass, contract.ByOwner}})
		want := contract.UsageSums{Calls: 2 * calls, BytesIn: calls, BytesOut: 20 * calls}
		if got.Total != want || len(got.Items) != 2 {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRun_written(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.Recorder.Run(ctx) })
		w.Recorder.Observe(w.call(time.Now()))
		testkit.Eventually(t, "the first row", func() bool { return w.rows() == 1 })
		stop()
		running.Wait()
	})
}

func TestFlush_failed(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for range 3 {
			w.Recorder.Observe(w.call(time.Now()))
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Recorder.Flush(over); err == nil {
			t.Fatal("a write without a database succeeded")
		}
		if err := w.Recorder.Close(over); err == nil || fault.KindOf(err) != fault.Internal {
			t.Errorf("Close says %v", err)
		}
		w.Recorder.Observe(w.call(time.Now()))
		if err := w.Recorder.Close(t.Context()); err != nil || w.rows() != 4 {
			t.Errorf("%d calls are written, error %v", w.rows(), err)
		}
	})
}

func TestFlush_lastUse(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		lastUse := func() time.Time {
			t.Helper()
			row, err := db.Read(t.Context()).KeyByID(w.key.ID)
			if err != nil || row.LastUsedAt == nil {
				t.Fatalf("last use %v, %v", row.LastUsedAt, err)
			}
			return row.LastUsedAt.UTC()
		}
		use := func(at time.Time) {
			t.Helper()
			w.Recorder.Observe(w.call(at))
			w.Recorder.Observe(w.refused(at.Add(time.Hour))) // without a valid key
			if err := w.Recorder.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		first := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
		use(first)
		if got := lastUse(); !got.Equal(first) {
			t.Errorf("last used %v, want %v", got, first)
		}
		use(first.Add(5 * time.Second))
		if got := lastUse(); !got.Equal(first) {
			t.Errorf("last used %v was written twice within a minute", got)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Recorder.Close(over); err != nil {
			t.Errorf("a time of last use that can't be written is taken for a lost call: %v", err)
		}
		if err := w.Recorder.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := lastUse(); !got.Equal(first.Add(5 * time.Second)) {
			t.Errorf("last used %v after a clean stop", got)
		}
	})
}

func TestUsage_permission(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		stranger := access.Principal{Account: "acc_2", Roles: map[string]access.Role{"team_other": access.Owner}}
		for want, who := range map[fault.Kind]access.Principal{fault.Unauthenticated: {}, fault.NotFound: stranger} {
			_, err := w.Usage(t.Context(), who, contract.UsageQuery{ProjectPath: shop})
			if fault.KindOf(err) != want {
				t.Errorf("usage: %v", err)
			}
			if _, err = w.Requests(t.Context(), who, w.list(contract.Page{})); fault.KindOf(err) != want {
				t.Errorf("requests: %v", err)
			}
			err = w.Follow(
				t.Context(), who, w.list(contract.Page{}), "",
				func(usage.Batch) error { t.Error("a stranger follows"); return nil },
			)
			if fault.KindOf(err) != want {
				t.Errorf("follow: %v", err)
			}
		}
		for _, ref := range []string{"none", "prj_none"} {
			in := contract.UsageQuery{ProjectPath: contract.ProjectPath{Project: ref}}
			if _, err := w.Usage(t.Context(), w.owner, in); fault.KindOf(err) != fault.NotFound {
				t.Errorf("%s: %v", ref, err)
			}
		}
		byID := contract.UsageQuery{ProjectPath: contract.ProjectPath{Project: w.project.ID}}
		if _, err := w.Usage(t.Context(), w.owner, byID); err != nil {
			t.Errorf("by id: %v", err)
		}
	})
}
