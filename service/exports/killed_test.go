package exports_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/service/exports"
	"postern/testkit/servers"
	"postern/testkit/state"
)

// killVariable makes this test binary a second process, which builds an export and is killed
// on the way. Its value is a killedExport in JSON.
const killVariable = "TESTKIT_KILLED_EXPORT"

// killedExport says what such a process builds, and where it ends: after that many bytes of the zip, or, if the zip has
// fewer, after its commit.
type killedExport struct {
	Database, File string
	Dir, Endpoint  string
	Export         string
	Bytes          int
}

func TestMain(m *testing.M) {
	value := os.Getenv(killVariable)
	if value == "" {
		goleak.VerifyTestMain(m)
		return
	}
	var d killedExport
	err := json.Unmarshal([]byte(value), &d)
	if err == nil {
		err = d.build(context.Background())
	}
	fmt.Fprintln(os.Stderr, "not killed:", err)
	os.Exit(1)
}

func (d killedExport) build(ctx context.Context) error {
	db, err := models.Open(ctx, d.Database, d.File)
	if err != nil {
		return err
	}
	var store exports.Store = exports.Dir(d.Dir)
	if d.Endpoint != "" {
		store, err = exports.OpenBucket(ctx, config.Bucket{
			Name:      servers.S3Bucket,
			Endpoint:  d.Endpoint,
			PathStyle: true,
		})
		if err != nil {
			return err
		}
	}
	s := newService(db, &queue{}, deadlyStore{store, d.Bytes}, slog.New(slog.DiscardHandler))
	return s.Build(ctx, d.Export, false)
}

// deadlyStore kills this process once a number of bytes of a draft is written.
type deadlyStore struct {
	exports.Store
	bytes int
}

func (s deadlyStore) Create(ctx context.Context, a exports.Attempt) (exports.Draft, error) {
	draft, err := s.Store.Create(ctx, a)
	return &deadlyDraft{Draft: draft, left: s.bytes}, err
}

type deadlyDraft struct {
	exports.Draft
	left int
}

func (d *deadlyDraft) Write(p []byte) (int, error) {
	if len(p) >= d.left {
		_, _ = d.Draft.Write(p[:d.left])
		die()
	}
	d.left -= len(p)
	return d.Draft.Write(p)
}

func (d *deadlyDraft) Commit() error {
	err := d.Draft.Commit()
	if err == nil {
		die()
	}
	return err
}

// die ends this process as kill -9 does.
func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// kill starts a process that builds an export and is killed on the way.
func (d killedExport) kill(t *testing.T) {
	t.Helper()
	value, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), killVariable+"="+string(value))
	var says bytes.Buffer
	c.Stderr = &says
	err = c.Run()
	if ended, ok := errors.AsType[*exec.ExitError](err); !ok || ended.Exited() {
		t.Fatalf("the process was not killed after %d bytes: %v\n%s", d.Bytes, err, says.String())
	}
}

// kills is how many processes are killed at one export.
const kills = 20

// Builds that are killed, one after the other, leave nothing that can be read. The one that
// is not killed finishes with the zip that a build without any kill has.
func TestBuild_killed(t *testing.T) {
	run := func(t *testing.T, d killedExport, keys int, whole func() int) {
		db, err := models.Open(t.Context(), d.Database, d.File)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		w := newWorld(t, db)
		w.fill(t, keys)
		w.Store = exports.Dir(d.Dir)
		if d.Endpoint != "" {
			w.Store = bucketAt(t, d.Endpoint, "")
		}
		first := w.request(t, gateway)
		if err := w.Build(t.Context(), first.ID, true); err != nil {
			t.Fatal(err)
		}
		want := w.download(t, first.ID)
		if err := w.Store.Remove(t.Context(), first.ID); err != nil {
			t.Fatal(err)
		}
		d.Export = w.request(t, gateway).ID
		seed := rand.Uint64()
		t.Logf("a zip of %d bytes, seed %d", len(want), seed)
		random := rand.New(rand.NewPCG(seed, 0))
		for n := range kills {
			d.Bytes = 1 + random.IntN(len(want))
			switch n { // two points that chance would seldom find
			case kills - 2:
				d.Bytes = len(want)
			case kills - 1:
				d.Bytes = len(want) + 1
			}
			d.kill(t)
			wantWhole := 0
			if d.Bytes > len(want) {
				wantWhole = 1
			}
			if got := whole(); got != wantWhole {
				t.Errorf("killed after %d bytes: %d whole files, want %d", d.Bytes, got, wantWhole)
			}
			if _, err := w.Open(t.Context(), w.owner, exportAt(d.Export)); fault.CodeOf(err) != "export_not_ready" {
				t.Errorf("killed after %d bytes, it can be read: %v", d.Bytes, err)
			}
			if err := w.TakeOver(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Build(t.Context(), d.Export, true); err != nil {
			t.Fatal(err)
		}
		if got := w.download(t, d.Export); !bytes.Equal(got, want) {
			t.Errorf("after %d kills the zip has %d bytes that are not the %d of one without", kills,
				len(got), len(want))
		}
		wantFiles(t, w.Store, d.Export)
	}
	inDirectory := func(t *testing.T, database, file string) {
		dir := filepath.Join(t.TempDir(), "exports")
		run(t, killedExport{Database: database, File: file, Dir: dir}, 200, func() int {
			zips, _ := filepath.Glob(filepath.Join(dir, "*.zip"))
			return len(zips)
		})
	}
	t.Run("sqlite", func(t *testing.T) { inDirectory(t, "", state.SQLite(t)) })
	t.Run("postgres", func(t *testing.T) { inDirectory(t, state.Postgres(t), "") })
	t.Run("bucket", func(t *testing.T) {
		servers.SetS3Environ(t)
		server := servers.StartS3(t)
		d := killedExport{File: state.SQLite(t), Endpoint: server.Endpoint()}
		// As many keys as make a zip of several parts.
		run(t, d, 5000, func() int { return len(server.Keys()) })
		if server.Uploads() != 0 {
			t.Errorf("%d uploads of killed processes are left", server.Uploads())
		}
	})
}

// fill adds users, and keys that compress badly.
func (w *world) fill(t *testing.T, many int) {
	t.Helper()
	err := w.DB.Write(t.Context(), func(tx *models.Tx) error {
		if err := addPeople(tx, w.project, 300, map[string]person{}); err != nil {
			return err
		}
		have, err := tx.KeysListed(models.Project{ID: w.project}, models.KeyFilter{}, models.Page{Limit: 1})
		if err != nil {
			return err
		}
		text := noise(1500 * many)
		var batch []models.APIKey
		for n := range many {
			key := have.Items[0]
			hash := sha256.Sum256(fmt.Append(nil, n))
			key.ID, key.Hash, key.Owner = models.NewID("key"), hash[:], fmt.Sprintf("app-%d", n)
			key.Description = base64.StdEncoding.EncodeToString(text[1500*n : 1500*(n+1)])
			if batch = append(batch, key); len(batch) == 20 {
				if err := tx.Insert(&batch); err != nil {
					return err
				}
				batch = nil
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// newService returns a service like newWorld's.
func newService(db *models.DB, jobs exports.Enqueuer, store exports.Store, log *slog.Logger) *exports.Service {
	return &exports.Service{
		DB:        db,
		Jobs:      jobs,
		Store:     store,
		TTL:       time.Hour,
		Generator: "postern test",
		Followers: exports.NewFollowers(),
		Log:       log,
		AddressOf: func(p, v, e string) string { return "http://localhost:8090/" + p + "/" + v + "/" + e },
	}
}
