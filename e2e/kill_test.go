package e2e

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/bundle"
	"postern/bundle/targets"
	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/models"
	"postern/testkit"
)

// manyKeys make an export take long enough for the test to kill it in the middle.
const manyKeys = 8_000

func TestExport_killedProcess(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		t.Parallel()
		data := t.TempDir()
		exports := filepath.Join(data, "exports")
		server := harness.Serve(t, data, databaseURL)
		proxy := newProxy(t, server.URL)
		addKeys(t, databaseURL, filepath.Join(data, "postern.db"), proxy.Project.ID)
		restart := func() *harness.Process { return harness.Serve(t, data, databaseURL) }
		queued := killDuringExport(t, server, proxy, exports, restart)
		finished := slices.DeleteFunc(names(t, exports),
			func(name string) bool { return filepath.Ext(name) == ".part" })

		server = harness.Serve(t, data, databaseURL)
		api := harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal())
		ready := harness.WaitForExport(t, api, queued.ID)
		added := slices.DeleteFunc(names(t, exports), func(name string) bool { return slices.Contains(finished, name) })
		if len(added) != 1 || !isZipOf(added[0], queued.ID) {
			t.Fatalf("the export added the files %v, want one zip", added)
		}
		checkZip(t, api, ready, filepath.Join(exports, added[0]))

		// The job that the first process left in the queue finds nothing to do.
		in := contract.NewExport{Format: "data", Keys: "none"}.In(proxy.Project.ID)
		again, err := client.Do(t.Context(), api, contract.CreateExport, in)
		if err != nil {
			t.Fatal(err)
		}
		harness.WaitForExport(t, api, again.ID)
		now, err := client.Do(t.Context(), api, contract.GetExport, contract.ExportPath{Export: queued.ID})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(ready, now); diff != "" {
			t.Errorf("the finished export changed (-before +after):\n%s", diff)
		}
		server.End(t, syscall.SIGTERM)
		if code := server.Command.ProcessState.ExitCode(); code != 0 {
			t.Errorf("postern serve was stopped with exit code %d:\n%s", code, server.Errors)
		}
	})
}

// killDuringExport requests an export, kills the server while it writes the file, and
// returns the export. On a busy machine the test may notice the file so late that the
// export is finished before the kill. Then killDuringExport starts the server again and
// requests another export.
func killDuringExport(
	t *testing.T, server *harness.Process, proxy contract.Proxy, exports string, restart func() *harness.Process,
) contract.Export {
	t.Helper()
	const attempts = 5
	for attempt := 1; ; attempt++ {
		finished := names(t, exports)
		api := harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal())
		in := contract.NewExport{Format: "gateway"}.In(proxy.Project.ID)
		queued, err := client.Do(t.Context(), api, contract.CreateExport, in)
		if err != nil {
			t.Fatal(err)
		}
		waitForFile(t, exports, len(finished)+1)
		server.End(t, syscall.SIGKILL)
		left := slices.DeleteFunc(names(t, exports), func(name string) bool { return slices.Contains(finished, name) })
		if len(left) == 1 && filepath.Ext(left[0]) == ".part" {
			return queued
		}
		if attempt == attempts || len(left) != 1 || !isZipOf(left[0], queued.ID) {
			t.Fatalf("the process was not killed in the middle of an export in attempt %d: it left %v", attempt, left)
		}
		server = restart()
		harness.WaitForExport(t, harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal()), queued.ID)
	}
}

// isZipOf reports whether a file is the finished zip of an export.
func isZipOf(name, export string) bool {
	return strings.HasPrefix(name, export+".") && filepath.Ext(name) == ".zip"
}

func newProxy(t *testing.T, server string) contract.Proxy {
	t.Helper()
	proxy, err := client.Do(t.Context(), harness.Connect(t, server, ""), contract.CreateProxy, contract.NewProxy{
		Target: testkit.NewUpstream(t).URL, Name: "shop", RequestsAuth: &contract.NewRequestsAuth{Mode: "authenticate"},
	}.Request())
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

// waitForFile returns as soon as a directory has that many files: an export has begun to write its own.
func waitForFile(t *testing.T, dir string, count int) {
	t.Helper()
	testkit.Eventually(t, "the begin of an export", func() bool { return len(names(t, dir)) >= count })
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
func checkZip(t *testing.T, api *client.Client, ready contract.Export, stored string) {
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
