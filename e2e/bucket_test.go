package e2e

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/platform/fault"
	"postern/testkit"
	"postern/testkit/servers"
)

// Two replicas share a database and a bucket, and no directory. Each serves the zips that
// either built, also after the one that built them is killed, and both wait for a bucket
// that does not answer.
func TestBucket_replicas(t *testing.T) {
	server := servers.StartS3(t)
	database := testkit.Postgres(t)
	environment := append(servers.S3Environ(),
		"POSTERN_BLOB_URL="+server.URL()+"&prefix=postern",
		"POSTERN_SECRETS_KEY="+strings.Repeat("A", 43)+"=",
		"POSTERN_LOG_LEVEL=debug",
	)
	dirs := []string{t.TempDir(), t.TempDir()}
	replicas := make([]*harness.Process, len(dirs))
	for i, dir := range dirs {
		replicas[i] = harness.Serve(t, dir, database, environment...)
	}
	proxy := newProxy(t, replicas[0].URL)
	apis := []*client.Client{
		harness.Connect(t, replicas[0].URL, proxy.WorkspaceKey.Reveal()),
		harness.Connect(t, replicas[1].URL, proxy.WorkspaceKey.Reveal()),
	}
	var ready contract.Export
	for _, api := range apis {
		in := contract.NewExport{Format: "gateway"}.In(proxy.Project.ID)
		queued, err := client.Do(t.Context(), api, contract.CreateExport, in)
		if err != nil {
			t.Fatal(err)
		}
		ready = harness.WaitForExport(t, api, queued.ID)
		var whole []byte
		for _, other := range apis {
			zip := harness.Downloaded(t, other, ready)
			if whole != nil && !bytes.Equal(whole, zip) {
				t.Errorf("the replicas serve different zips of %s", ready.ID)
			}
			whole = zip
		}
		if part := rangeOf(t, replicas[1].URL, proxy.WorkspaceKey.Reveal(), ready.ID); !bytes.Equal(
			part,
			whole[100:200],
		) {
			t.Errorf("a range of %s differs from the zip", ready.ID)
		}
	}
	if keys := server.Keys(); len(keys) != 2 || !strings.HasPrefix(keys[0], "postern/exp_") {
		t.Errorf("the bucket has %v, want the two zips", keys)
	}

	server.Down()
	err := apis[1].Download(t.Context(), ready, io.Discard)
	if fault.CodeOf(err) != "exports_unavailable" {
		t.Errorf("download without a bucket: %v", err)
	}
	server.Up()
	replicas[0].End(t, syscall.SIGKILL)
	harness.Downloaded(t, apis[1], ready)

	replicas[1].End(t, syscall.SIGTERM)
	for i, dir := range dirs {
		if slices.Contains(names(t, dir), "exports") {
			t.Errorf("replica %d has a directory %s", i, filepath.Join(dir, "exports"))
		}
		if strings.Contains(replicas[i].Errors.String(), servers.S3SecretKey) {
			t.Errorf("the log of replica %d shows the bucket's secret", i)
		}
	}
}

// rangeOf downloads the second hundred bytes of a zip.
func rangeOf(t *testing.T, server, token, export string) []byte {
	t.Helper()
	address := server + "/api/v1/exports/" + export + "/download"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Range", "bytes=100-199")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	part, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusPartialContent {
		t.Errorf("a range: %d, %v", answer.StatusCode, err)
	}
	return part
}
