package exports_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/service/exports"
	"postern/service/keys"
	"postern/service/projects"
	"postern/testkit/state"
)

// queue keeps the ids of queued exports. Tests build them.
type queue struct {
	mu  sync.Mutex
	ids []string
}

func (q *queue) EnqueueExport(_ context.Context, _ *models.Tx, id string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ids = append(q.ids, id)
	return nil
}

type anyTarget struct{}

func (anyTarget) CheckTarget(_ context.Context, raw string) (*url.URL, error) { return url.Parse(raw) }

type world struct {
	*exports.Service
	dir     exports.Dir
	queue   *queue
	keys    *keys.Service
	owner   access.Principal
	project string
}

func newWorld(t *testing.T, db *models.DB) *world {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	nothing := func(context.Context) {}
	w := &world{
		dir:   exports.Dir(filepath.Join(t.TempDir(), "exports")),
		queue: &queue{},
		keys:  &keys.Service{DB: db, Prefix: "pst", Changed: nothing},
	}
	w.Service = newService(db, w.queue, w.dir, log)
	made := &projects.Service{
		DB:           db,
		Targets:      anyTarget{},
		Log:          log,
		KeyPrefix:    "pst",
		UnclaimedTTL: time.Hour,
		Changed:      nothing,
	}
	created, err := made.Create(t.Context(), access.Principal{}, projects.CreateInput{
		Target: "https://api.example.com",
		Name:   "shop",
		Auth:   contract.NewRequestsAuth{Mode: "authenticate"},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.project = created.Project.ID
	w.owner = access.Principal{
		Roles:    map[string]access.Role{created.Workspace.Team: access.Workspace},
		HomeTeam: created.Workspace.Team,
	}
	return w
}

func (w *world) request(t *testing.T, options exports.Options) contract.Export {
	t.Helper()
	e, err := w.Request(t.Context(), w.owner, "shop", options)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func exportAt(id string) contract.ExportPath { return contract.ExportPath{Export: id} }

func (w *world) get(t *testing.T, id string) contract.Export {
	t.Helper()
	e, err := w.Get(t.Context(), w.owner, exportAt(id))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func (w *world) download(t *testing.T, id string) []byte {
	t.Helper()
	file, err := w.Open(t.Context(), w.owner, exportAt(id))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

var gateway = exports.Options{Format: "gateway", Consumers: true}

func TestBuild_deterministic(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		for _, options := range []exports.Options{gateway, {Format: "data", Consumers: true}, {Format: "data"}} {
			var first []byte
			for range 2 {
				e := w.request(t, options)
				if err := w.Build(t.Context(), e.ID, true); err != nil {
					t.Fatal(err)
				}
				content := w.download(t, e.ID)
				got := w.get(t, e.ID)
				if got.State != contract.ExportReady {
					t.Errorf("state %s, want %s", got.State, contract.ExportReady)
				}
				if got.SizeBytes != int64(len(content)) {
					t.Errorf("size %d, want %d", got.SizeBytes, len(content))
				}
				if got.Ledger.Exact == 0 {
					t.Errorf("nothing is exact: %+v", got.Ledger)
				}
				if first != nil && !bytes.Equal(first, content) {
					t.Errorf("%+v: two exports differ", options)
				}
				first = content
			}
			if _, err := zip.NewReader(bytes.NewReader(first), int64(len(first))); err != nil {
				t.Error(err)
			}
		}
	})
}

// brokenStore fails like a full disk while broken is set.
type brokenStore struct {
	exports.Store
	broken bool
}

func (s *brokenStore) Create(ctx context.Context, a exports.Attempt) (exports.Draft, error) {
	if s.broken {
		return nil, errors.New("no space left on device")
	}
	return s.Store.Create(ctx, a)
}

func TestBuild_retries(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		store := &brokenStore{Store: w.dir, broken: true}
		w.Store = store
		e := w.request(t, gateway)
		if err := w.Build(t.Context(), e.ID, false); err == nil {
			t.Fatal("built without space")
		}
		store.broken = false
		if err := w.Build(t.Context(), e.ID, false); err != nil || w.get(t, e.ID).State != contract.ExportReady {
			t.Errorf("the second attempt: %v, %s", err, w.get(t, e.ID).State)
		}
		store.broken = true
		last := w.request(t, gateway)
		if err := w.Build(t.Context(), last.ID, true); err == nil {
			t.Fatal("built without space")
		}
		if got := w.get(t, last.ID); got.State != contract.ExportFailed || got.Error == "" {
			t.Errorf("after the last attempt: %+v", got)
		}
	})
}

func TestExpire_deletedFile(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		w.TTL = -time.Second
		e := w.request(t, gateway)
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Open(t.Context(), w.owner, e.Path()); fault.KindOf(err) != fault.Gone {
			t.Errorf("before the upkeep: %v", err)
		}
		if err := w.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(string(w.dir)); len(left) != 0 || w.get(t, e.ID).State != contract.ExportExpired {
			t.Errorf("left %v, state %s", left, w.get(t, e.ID).State)
		}
	})
}

func TestCancel_queued(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		if _, err := w.Cancel(t.Context(), w.owner, e.Path()); err != nil {
			t.Fatal(err)
		}
		if err := w.Build(t.Context(), e.ID, true); err != nil || w.get(t, e.ID).State != contract.ExportCancelled {
			t.Errorf("%v, %s", err, w.get(t, e.ID).State)
		}
		if _, err := w.Cancel(t.Context(), w.owner, e.Path()); fault.KindOf(err) != fault.Conflict {
			t.Errorf("cancelled twice: %v", err)
		}
	})
}

// An export that is canceled while its zip is written leaves no file.
func TestCancel_atTheEnd(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		w.Store = &changingStore{Store: w.dir, change: func() {
			if _, err := w.Cancel(t.Context(), w.owner, e.Path()); err != nil {
				t.Error(err)
			}
		}}
		if err := w.Build(t.Context(), e.ID, true); err == nil {
			t.Error("a cancelled export was finished")
		}
		if left, _ := os.ReadDir(string(w.dir)); len(left) != 0 || w.get(t, e.ID).State != contract.ExportCancelled {
			t.Errorf("left %v, state %s", left, w.get(t, e.ID).State)
		}
	})
}

func TestRequest_invalidOptions(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		_, err := w.Request(t.Context(), w.owner, "shop", exports.Options{Format: "tar", Keys: "all"})
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("got %v", err)
		}
		for _, keys := range []string{"hashes", "mint"} {
			options := exports.Options{Format: "data", Keys: keys}
			_, err = w.Request(t.Context(), w.owner, "shop", options)
			refused, ok := errors.AsType[*fault.Error](err)
			if !ok || len(refused.Fields) != 1 || refused.Fields[0].Pointer != "/keys" {
				t.Errorf("keys %s without consumers: got %v, want /keys refused", keys, err)
			}
			if _, err = w.Preview(t.Context(), w.owner, w.previewed(options)); fault.KindOf(err) != fault.Invalid {
				t.Errorf("preview with keys %s without consumers: got %v, want it refused", keys, err)
			}
		}
		if e := w.request(t, exports.Options{Format: "data"}); e.Keys != "none" {
			t.Errorf("an export without consumers has keys %q, want none", e.Keys)
		}
		other := access.Principal{Roles: map[string]access.Role{"team_other": access.Owner}}
		if _, err := w.Request(t.Context(), other, "shop", gateway); fault.KindOf(err) != fault.NotFound {
			t.Errorf("another team got %v", err)
		}
	})
}

// A change while an export is built is not in the export.
func TestBuild_consistent(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		e := w.request(t, gateway)
		w.Store = &changingStore{Store: w.dir, change: func() {
			if _, err := w.keys.Create(t.Context(), w.owner, contract.NewKey{Owner: "late"}.In(w.project)); err != nil {
				t.Error(err)
			}
		}}
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		content := w.download(t, e.ID)
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := fs.ReadFile(archive, "tenants/default/keys/keys.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(rows, []byte("late")) || bytes.Count(rows, []byte("\n")) != 1 {
			t.Errorf("the key created during the export is in it:\n%s", rows)
		}
	})
}

// changingStore changes the project once the first bytes of the zip are written.
type changingStore struct {
	exports.Store
	change func()
}

func (s *changingStore) Create(ctx context.Context, a exports.Attempt) (exports.Draft, error) {
	draft, err := s.Store.Create(ctx, a)
	return &changingDraft{Draft: draft, change: sync.OnceFunc(s.change)}, err
}

type changingDraft struct {
	exports.Draft
	change func()
}

func (d *changingDraft) Write(b []byte) (int, error) {
	d.change()
	return d.Draft.Write(b)
}
