package exports_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/config"
	"postern/platform/fault"
	"postern/service/exports"
	"postern/testkit"
	"postern/testkit/servers"
	"postern/testkit/state"
)

func TestBucket_check(t *testing.T) {
	servers.SetS3Environ(t)
	server := servers.StartS3(t)
	works := config.Bucket{Name: servers.S3Bucket, Endpoint: server.Endpoint(), PathStyle: true}
	missing, away := works, works
	missing.Name, away.Endpoint = "other", "http://127.0.0.1:9"
	for _, tt := range []struct {
		name      string
		bucket    config.Bucket
		variables []string
		want      error
	}{
		{"works", works, nil, nil},
		{"no such bucket", missing, nil, exports.ErrRefused},
		{"wrong secret", works, []string{"AWS_SECRET_ACCESS_KEY", "canary-wrong"}, exports.ErrRefused},
		{"unknown key", works, []string{"AWS_ACCESS_KEY_ID", "canary-unknown"}, exports.ErrRefused},
		{"no credentials", works, []string{"AWS_ACCESS_KEY_ID", "", "AWS_SECRET_ACCESS_KEY", ""}, exports.ErrRefused},
		{"nothing listens", away, nil, exports.ErrStoreDown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for pair := range slices.Chunk(tt.variables, 2) {
				t.Setenv(pair[0], pair[1])
			}
			bucket, err := exports.OpenBucket(t.Context(), tt.bucket)
			if err != nil {
				t.Fatal(err)
			}
			defer bucket.Close()
			if err = bucket.Check(t.Context()); !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err != nil &&
				(strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), servers.S3SecretKey)) {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
}

func TestOpenBucket_region(t *testing.T) {
	servers.SetS3Environ(t)
	if _, err := exports.OpenBucket(t.Context(), config.Bucket{Name: "zips"}); err == nil ||
		!strings.Contains(err.Error(), "region") {
		t.Errorf("without a region: %v", err)
	}
	t.Setenv("AWS_REGION", "eu-central-1")
	bucket, err := exports.OpenBucket(t.Context(), config.Bucket{Name: "zips"})
	if err != nil {
		t.Fatal(err)
	}
	if err := bucket.Close(); err != nil {
		t.Error(err)
	}
}

// Objects of others, also those below another prefix, are neither listed nor removed.
func TestBucket_prefix(t *testing.T) {
	servers.SetS3Environ(t)
	server := servers.StartS3(t)
	ours, theirs := openBucket(t, server, "ours/"), openBucket(t, server, "theirs/")
	server.Put("ours/notes.txt", "kept")
	server.Put("ours/exp_notes.txt", "kept")
	save(t, ours, attempt, noise(10))
	save(t, theirs, attempt, noise(20))
	wantFiles(t, ours, attempt.Export)
	if err := ours.Remove(t.Context(), attempt.Export); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, ours)
	wantFiles(t, theirs, attempt.Export)
	want := []string{"ours/exp_notes.txt", "ours/notes.txt", "theirs/exp_1.lse_1.zip"}
	if got := server.Keys(); !slices.Equal(got, want) {
		t.Errorf("the bucket has %v, want %v", got, want)
	}
}

// A server that ends in the middle of an upload has nothing that can be read, and what it
// keeps of the upload is removed when it runs again.
func TestBucket_serverEnd(t *testing.T) {
	servers.SetS3Environ(t)
	server := servers.StartS3(t)
	bucket := openBucket(t, server, "")
	draft := begin(t, bucket, attempt, noise(severalParts))
	testkit.Eventually(t, "an upload", func() bool { return server.Uploads() == 1 })
	server.Down()
	if err := draft.Commit(); !errors.Is(err, exports.ErrStoreDown) {
		t.Errorf("commit without a server: %v", err)
	}
	draft.Discard()
	if _, err := bucket.Open(t.Context(), attempt); !errors.Is(err, exports.ErrStoreDown) {
		t.Errorf("open without a server: %v", err)
	}
	if err := bucket.Remove(t.Context(), attempt.Export); !errors.Is(err, exports.ErrStoreDown) {
		t.Errorf("remove without a server: %v", err)
	}
	server.Up()
	wantMissing(t, bucket, attempt)
	if keys := server.Keys(); len(keys) != 0 || server.Uploads() != 1 {
		t.Errorf("the server has %v and %d uploads, want the broken upload alone", keys, server.Uploads())
	}
	save(t, bucket, exports.Attempt{Export: attempt.Export, Lease: "lse_2"}, noise(10))
	if server.Uploads() != 0 {
		t.Error("the broken upload is still there after the next attempt")
	}
}

// A zip of any size takes little memory, on its way into the bucket and back.
func TestBucket_memory(t *testing.T) {
	servers.SetS3Environ(t)
	bucket := openBucket(t, servers.StartS3(t), "")
	const size, most = 192 << 20, 96 << 20
	block := noise(1 << 20)
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	peak := uint64(0)
	measure := func() {
		runtime.ReadMemStats(&now)
		peak = max(peak, now.HeapInuse-min(now.HeapInuse, before.HeapInuse))
	}
	draft := begin(t, bucket, attempt, nil)
	for range size / len(block) {
		if _, err := draft.Write(block); err != nil {
			t.Fatal(err)
		}
		measure()
	}
	if err := draft.Commit(); err != nil {
		t.Fatal(err)
	}
	file, err := bucket.Open(t.Context(), attempt)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	read := 0
	for buffer := make([]byte, len(block)); err == nil; {
		var n int
		n, err = file.Read(buffer)
		read += n
		measure()
	}
	if !errors.Is(err, io.EOF) || read != size {
		t.Errorf("read %d bytes of %d, %v", read, size, err)
	}
	if peak > most {
		t.Errorf("the heap grew by %d MiB for a zip of %d, want at most %d", peak>>20, size>>20, most>>20)
	}
}

// replica returns a second service with the same database and bucket, as another process has.
func (w *world) replica(t *testing.T, server *servers.S3) *exports.Service {
	t.Helper()
	second := *w.Service
	second.Store = openBucket(t, server, "zips/")
	return &second
}

func TestBucket_replicas(t *testing.T) {
	servers.SetS3Environ(t)
	state.Each(t, func(t *testing.T, db *models.DB) {
		server := servers.StartS3(t)
		w := newWorld(t, db)
		w.Store = openBucket(t, server, "zips/")
		e := w.request(t, gateway)
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		second := w.replica(t, server)
		file, err := second.Open(t.Context(), w.owner, e.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		whole := w.download(t, e.ID)
		answer := httptest.NewRecorder()
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Header.Set("Range", "bytes=100-299")
		http.ServeContent(answer, request, "", file.WroteAt, file.ReadCloser.(io.ReadSeeker))
		if answer.Code != http.StatusPartialContent || answer.Body.String() != string(whole[100:300]) {
			t.Errorf("a range from the other replica: %d, %d bytes", answer.Code, answer.Body.Len())
		}

		read := *w
		read.Service = second
		if read.wholeLedger(t, e.ID) != entry(t, whole, "MIGRATION-REPORT.json") {
			t.Error("the ledger that the other replica reads is not that of the zip")
		}

		// The replica that did not build it removes it.
		second.TTL = -time.Second
		expired := w.request(t, gateway)
		if err := second.Build(t.Context(), expired.ID, true); err != nil {
			t.Fatal(err)
		}
		if err := w.Upkeep(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantFiles(t, w.Store, e.ID)
		if keys := server.Keys(); len(keys) != 1 || !strings.HasPrefix(keys[0], "zips/"+e.ID+".") {
			t.Errorf("in the bucket: %v", keys)
		}
	})
}

// While the bucket does not answer, downloads are refused with a reason and exports wait.
// They succeed once it answers.
func TestBucket_unavailable(t *testing.T) {
	servers.SetS3Environ(t)
	state.Each(t, func(t *testing.T, db *models.DB) {
		server := servers.StartS3(t)
		w := newWorld(t, db)
		w.Store = openBucket(t, server, "")
		ready, waiting, last := w.request(t, gateway), w.request(t, gateway), w.request(t, gateway)
		if err := w.Build(t.Context(), ready.ID, true); err != nil {
			t.Fatal(err)
		}
		server.Down()
		_, err := w.Open(t.Context(), w.owner, ready.Path())
		if fault.KindOf(err) != fault.Unavailable || fault.CodeOf(err) != "exports_unavailable" ||
			fault.RetryAfter(err) == 0 {
			t.Errorf("download: %v", err)
		}
		for _, final := range []bool{false, true} {
			err := w.Build(t.Context(), waiting.ID, final)
			if !errors.Is(err, exports.ErrStoreDown) || fault.RetryAfter(err) == 0 {
				t.Errorf("an attempt, final %v: %v", final, err)
			}
			if e := w.get(t, waiting.ID); e.State != contract.ExportQueued ||
				e.Progress.Part != exports.WaitingForStore {
				t.Errorf("after it, the export is %s, %q", e.State, e.Progress.Part)
			}
		}
		impatient := *w.Service
		impatient.TTL = -time.Second // since the request
		if err := impatient.Build(t.Context(), last.ID, false); !errors.Is(err, exports.ErrStoreDown) ||
			fault.RetryAfter(err) != 0 {
			t.Errorf("an attempt of an export that has waited for long: %v", err)
		}
		if e := w.get(t, last.ID); e.State != contract.ExportFailed || !strings.Contains(e.Error, "export storage") {
			t.Errorf("that export is %s, %q", e.State, e.Error)
		}
		server.Up()
		if err := w.Build(t.Context(), waiting.ID, false); err != nil {
			t.Error(err)
		}
		for _, id := range []string{ready.ID, waiting.ID} {
			if len(w.download(t, id)) == 0 {
				t.Errorf("%s is empty", id)
			}
		}
	})
}

// A file that is gone from the bucket is reported as one that is gone from the directory is.
func TestOpen_gone(t *testing.T) {
	eachStore(t, func(t *testing.T, store exports.Store) {
		w := newWorld(t, state.OpenSQLite(t))
		w.Store = store
		e := w.request(t, gateway)
		if err := w.Build(t.Context(), e.ID, true); err != nil {
			t.Fatal(err)
		}
		if err := store.Remove(context.WithoutCancel(t.Context()), e.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Open(t.Context(), w.owner, e.Path()); fault.CodeOf(err) != "export_elsewhere" {
			t.Errorf("got %v", err)
		}
	})
}
