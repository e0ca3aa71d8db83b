package e2e

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/client"
	"postern/models"
	"postern/testkit"
)

// manyKeys make an export take long enough for the test to kill it in the middle.
const manyKeys = 8_000

// readyWithin is where the test gives up. On PostgreSQL an export is resumed only when
// the lease of the killed process has expired.
const readyWithin = 2 * time.Minute

func TestExportOfKilledProcessIsFinishedOnce(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		t.Parallel()
		data := t.TempDir()
		first := serve(t, data, databaseURL)
		proxy := newProxy(t, first.URL)
		addKeys(t, databaseURL, filepath.Join(data, "postern.db"), proxy.Project.ID)

		api := connect(t, first.URL, proxy.WorkspaceKey)
		queued, err := api.CreateExport(t.Context(), proxy.Project.ID, client.NewExport{Format: "gateway"})
		if err != nil {
			t.Fatal(err)
		}
		waitForPart(t, filepath.Join(data, "exports"))
		first.end(t, syscall.SIGKILL)
		if left := names(t, filepath.Join(data, "exports")); len(left) != 1 || filepath.Ext(left[0]) != ".part" {
			t.Fatalf("the process was not killed in the middle of the export: it left %v", left)
		}

		second := serve(t, data, databaseURL)
		api = connect(t, second.URL, proxy.WorkspaceKey)
		ctx, stop := context.WithTimeout(t.Context(), readyWithin)
		defer stop()
		ready, err := api.WaitExport(ctx, queued.ID, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{queued.ID + ".zip"}, names(t, filepath.Join(data, "exports"))); diff != "" {
			t.Errorf("files of exports (-want +got):\n%s", diff)
		}
		checkZip(t, api, ready, filepath.Join(data, "exports", queued.ID+".zip"))

		// The job that the first process left in the queue finds nothing to do.
		again, err := api.CreateExport(t.Context(), proxy.Project.ID, client.NewExport{Format: "data", Keys: "none"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := api.WaitExport(ctx, again.ID, nil); err != nil {
			t.Fatal(err)
		}
		now, err := api.Export(t.Context(), queued.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ready, now); diff != "" {
			t.Errorf("the finished export changed (-before +after):\n%s", diff)
		}
		second.end(t, syscall.SIGTERM)
		if code := second.command.ProcessState.ExitCode(); code != 0 {
			t.Errorf("postern serve was stopped with exit code %d:\n%s", code, second.errors)
		}
	})
}

func connect(t *testing.T, server, token string) *client.Client {
	t.Helper()
	api, err := client.New(server, token)
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func newProxy(t *testing.T, server string) client.Proxy {
	t.Helper()
	proxy, err := connect(t, server, "").CreateProxy(t.Context(), client.NewProxy{
		Target: testkit.NewUpstream(t).URL, Name: "shop", RequestsAuth: &client.NewAuth{Mode: "authenticate"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return proxy
}

// addKeys inserts keys next to the running server, since minting them takes longer than
// the rest of the test. Batches are small: the SQLite driver looks for each parameter of
// a statement among all of them.
func addKeys(t *testing.T, databaseURL, file, project string) {
	t.Helper()
	db, err := models.Open(t.Context(), databaseURL, file)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *models.Tx) error {
		have, err := tx.KeysListed(models.Project{ID: project}, models.KeyFilter{}, models.Page{Limit: 1})
		if err != nil {
			return err
		}
		for n := 0; n < manyKeys; {
			batch := make([]models.APIKey, 0, 20)
			for range cap(batch) {
				key := have.Items[0]
				hash := sha256.Sum256(fmt.Append(nil, n))
				key.ID, key.Hash, key.Owner = models.NewID("key"), hash[:], fmt.Sprintf("app-%d", n)
				batch = append(batch, key)
				n++
			}
			if err := tx.Insert(&batch); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// waitForPart returns as soon as an export has begun to write its file.
func waitForPart(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(readyWithin); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if len(names(t, dir)) > 0 {
			return
		}
	}
	t.Fatalf("no export has begun after %s", readyWithin)
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// checkZip downloads the zip, whose sum is checked on the way, compares it with
// the stored one, and verifies it.
func checkZip(t *testing.T, api *client.Client, ready client.Export, stored string) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "shop.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := api.Download(t.Context(), ready, file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(stored); err != nil || info.Size() != ready.SizeBytes {
		t.Errorf("the stored file is not the one that was downloaded: %v", err)
	}
	report, err := bundle.Verify(t.Context(), file, ready.SizeBytes, bundle.Against{Targets: targets.All()})
	if err != nil {
		t.Fatal(err)
	}
	if report.Keys != manyKeys+1 {
		t.Errorf("%d keys in the zip, want %d", report.Keys, manyKeys+1)
	}
}
