package exports_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"
	"testing/iotest"

	"postern/platform/config"
	"postern/service/exports"
	"postern/testkit"
	"postern/testkit/servers"
)

// eachStore runs a test on every kind of store.
func eachStore(t *testing.T, run func(t *testing.T, store exports.Store)) {
	t.Run("directory", func(t *testing.T) { run(t, exports.Dir(filepath.Join(t.TempDir(), "exports"))) })
	t.Run("bucket", func(t *testing.T) {
		servers.SetS3Environ(t)
		run(t, openBucket(t, servers.StartS3(t), ""))
	})
}

// openBucket opens the server's bucket as a server with its address does.
func openBucket(t *testing.T, server *servers.S3, prefix string) *exports.Bucket {
	t.Helper()
	return bucketAt(t, server.Endpoint(), prefix)
}

func bucketAt(t *testing.T, endpoint, prefix string) *exports.Bucket {
	t.Helper()
	bucket, err := exports.OpenBucket(t.Context(), config.Bucket{
		Name:      servers.S3Bucket,
		Prefix:    prefix,
		Endpoint:  endpoint,
		PathStyle: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bucket.Close(); err != nil {
			t.Error(err)
		}
	})
	return bucket
}

// severalParts is a size that is uploaded to a bucket in several parts: in more than are in
// memory, so that some of them have arrived when all content is written.
const severalParts = 40 << 20

func noise(size int) []byte {
	content := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(content) // never fails
	return content
}

var attempt = exports.Attempt{Export: "exp_1", Lease: "lse_1"}

func begin(t *testing.T, store exports.Store, a exports.Attempt, content []byte) exports.Draft {
	t.Helper()
	draft, err := store.Create(t.Context(), a)
	if err == nil {
		_, err = draft.Write(content)
	}
	if err != nil {
		t.Fatal(err)
	}
	return draft
}

func save(t *testing.T, store exports.Store, a exports.Attempt, content []byte) exports.Draft {
	t.Helper()
	draft := begin(t, store, a, content)
	if err := draft.Commit(); err != nil {
		t.Fatal(err)
	}
	return draft
}

func wantMissing(t *testing.T, store exports.Store, a exports.Attempt) {
	t.Helper()
	file, err := store.Open(t.Context(), a)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s of %s: %v, want that there is none", a.Lease, a.Export, err)
	}
	if err == nil {
		_ = file.Close()
	}
}

func wantFiles(t *testing.T, store exports.Store, want ...string) {
	t.Helper()
	if got := files(t, store); !slices.Equal(got, want) {
		t.Errorf("there are files of %v, want of %v", got, want)
	}
}

func TestStore_read(t *testing.T) {
	eachStore(t, func(t *testing.T, store exports.Store) {
		for _, size := range []int{1, 512, 70_000, severalParts} {
			content := noise(size)
			save(t, store, attempt, content)
			file, err := store.Open(t.Context(), attempt)
			if err != nil {
				t.Fatal(err)
			}
			if size < severalParts { // reads byte by byte
				if err := iotest.TestReader(file, content); err != nil {
					t.Errorf("%d bytes: %v", size, err)
				}
			}
			middle := int64(size / 2)
			if at, err := file.Seek(middle-int64(size), io.SeekEnd); at != middle || err != nil {
				t.Errorf("moved to %d, %v", at, err)
			}
			if got, err := io.ReadAll(file); err != nil || !bytes.Equal(got, content[middle:]) {
				t.Errorf("the second half of %d bytes: %d bytes, %v", size, len(got), err)
			}
			if _, err := file.Seek(-1, io.SeekStart); err == nil {
				t.Error("moved before the beginning")
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		}
		wantFiles(t, store, attempt.Export)
	})
}

// An uncommitted draft cannot be read, and leaves nothing when it is discarded.
func TestStore_draft(t *testing.T) {
	for name, end := range testkit.ByName(map[string]func(t *testing.T, draft exports.Draft, stop func()){
		"discarded": func(_ *testing.T, draft exports.Draft, _ func()) { draft.Discard() },
		"discarded twice": func(_ *testing.T, draft exports.Draft, _ func()) {
			draft.Discard()
			draft.Discard()
		},
		"discarded when its context has ended": func(_ *testing.T, draft exports.Draft, stop func()) {
			stop()
			draft.Discard()
		},
		"discarded after its commit": func(t *testing.T, draft exports.Draft, _ func()) {
			if err := draft.Commit(); err != nil {
				t.Error(err)
			}
			draft.Discard()
		},
	}) {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, store exports.Store) {
				for _, size := range []int{0, 100, severalParts} {
					ctx, stop := context.WithCancel(t.Context())
					draft, err := store.Create(ctx, attempt)
					if err == nil {
						_, err = draft.Write(noise(size))
					}
					if err != nil {
						t.Fatal(err)
					}
					wantMissing(t, store, attempt)
					end(t, draft, stop)
					stop()
					wantMissing(t, store, attempt)
					wantFiles(t, store)
				}
			})
		})
	}
}

func TestStore_attempts(t *testing.T) {
	eachStore(t, func(t *testing.T, store exports.Store) {
		second := exports.Attempt{Export: "exp_1", Lease: "lse_2"}
		other := exports.Attempt{Export: "exp_12", Lease: "lse_1"}
		save(t, store, other, noise(10))
		late := begin(t, store, attempt, noise(severalParts))
		save(t, store, second, noise(30))
		if err := late.Commit(); err == nil {
			t.Error("an attempt was committed after the next one began")
		}
		late.Discard()
		wantMissing(t, store, attempt)
		wantFiles(t, store, second.Export, other.Export)

		begin(t, store, exports.Attempt{Export: "exp_1", Lease: "lse_3"}, nil).Discard()
		wantMissing(t, store, second)
		wantFiles(t, store, other.Export)
	})
}

func TestStore_remove(t *testing.T) {
	eachStore(t, func(t *testing.T, store exports.Store) {
		if err := store.Remove(t.Context(), "exp_none"); err != nil {
			t.Errorf("remove what is not there: %v", err)
		}
		save(t, store, attempt, noise(10))
		save(t, store, exports.Attempt{Export: "exp_10", Lease: "lse_1"}, noise(10))
		draft := begin(t, store, exports.Attempt{Export: "exp_2", Lease: "lse_1"}, noise(severalParts))
		testkit.Eventually(t, "file of exp_2", func() bool { return slices.Contains(files(t, store), "exp_2") })
		for _, id := range []string{"exp_1", "exp_2"} {
			if err := store.Remove(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		if err := draft.Commit(); err == nil {
			t.Error("a removed draft was committed")
		}
		draft.Discard() // parts that were on their way may have arrived after the removal
		wantMissing(t, store, attempt)
		wantFiles(t, store, "exp_10")
	})
}
