//go:build conformance

package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"postern/snapshot"
	"postern/testkit/sample"
)

// TestConformanceWithKong needs POSTERN_KONG: a program that is called with a
// gateway folder, a proxy port and an admin port, and runs Kong 3.9 on them in
// the foreground until it is sent SIGTERM. tools/kong-docker is one.
func TestConformanceWithKong(t *testing.T) {
	launcher := os.Getenv("POSTERN_KONG")
	if launcher == "" {
		t.Fatal("conformance: not run: POSTERN_KONG is not set to a launcher of Kong 3.9, such as tools/kong-docker")
	}
	up := newUpstream(t)
	postern := startPostern(t, up)
	kong := startKong(t, launcher, filepath.Join(export(t, up), "gateway"), up)
	run(t, Corpus(), postern, kong)
}

// A project with attacks in every free text boots, lets its keys in, and shows
// the upstream the text as it is: no vault, template or shell has touched it.
func TestConformanceHostileProjectBoots(t *testing.T) {
	launcher := os.Getenv("POSTERN_KONG")
	if launcher == "" {
		t.Fatal("conformance: not run: POSTERN_KONG is not set to a launcher of Kong 3.9, such as tools/kong-docker")
	}
	up := newUpstream(t)
	project, keys := sample.Hostile(up.url)
	kong := startKong(t, launcher, filepath.Join(exportOf(t, project, keys), "gateway"), up)
	for name, k := range keys {
		if k.Environment == "dev" || k.State != snapshot.KeyActive || k.ExpiresAt.Equal(sample.Past) {
			continue
		}
		out := kong.send(get(name, prod+"/x", key(k)))
		if len(out.Seen) != 1 || out.Seen[0].Headers.Get("X-Consumer-Username") != k.Owner {
			t.Errorf("%s: owner %q: status %d, upstream saw %v", name, k.Owner, out.Status, out.Seen)
		}
	}
	out := kong.send(get("fallback", "/2.0.0/prod/x"))
	if len(out.Seen) != 1 || out.Seen[0].Headers.Get("X-Consumer-Username") != project.FallbackOwner {
		t.Errorf("fallback: status %d, upstream saw %v", out.Status, out.Seen)
	}
}

func startKong(t *testing.T, launcher, folder string, up *upstream) *peer {
	t.Helper()
	proxy, admin := freePort(t), freePort(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "kong.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(launcher, folder, strconv.Itoa(proxy), strconv.Itoa(admin))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", launcher, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-ended
		if t.Failed() {
			if text, err := os.ReadFile(log.Name()); err == nil {
				t.Logf("Kong's log ends with:\n%s", text[max(0, len(text)-4000):])
			}
		}
	})
	p := &peer{name: "kong", addr: "127.0.0.1:" + strconv.Itoa(proxy), up: up}
	waitFor(t, "Kong", p.guarded)
	return p
}
