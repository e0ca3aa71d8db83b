//go:build conformance

package conformance

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/testkit/ports"
	"postern/testkit/sample"
)

// TestConformance_kong needs POSTERN_KONG: a program that is called with a
// gateway folder, a proxy port and an admin port, and runs Kong 3.9 on them in
// the foreground until it is sent SIGTERM. tools/kong-docker is one.
func TestConformance_kong(t *testing.T) {
	up := newUpstream(t)
	up.secure = newSecureUpstreams(t)
	folder := export(t, up)
	postern := startPostern(t, up)
	kong, _ := startKong(t, folder, up, "KONG_NGINX_PROXY_PROXY_SSL_TRUSTED_CERTIFICATE="+up.secure.file)
	run(t, Corpus(), declarations(t, folder), postern, kong)
}

// A project with attacks in every free text boots, lets its keys in, and shows
// the upstream the text as it is: no vault, template or shell has touched it.
func TestConformance_hostileProject(t *testing.T) {
	up := newUpstream(t)
	project, keys := sample.Hostile(up.url)
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	for name, k := range keys {
		refused := k.TenantID == "tnt_3" || len(k.AllowedIPs) > 0 && !policy.Contains(k.AllowedIPs,
			netip.MustParseAddr("127.0.0.1"))
		if k.Environment == "dev" || k.State != snapshot.KeyActive || k.ExpiresAt.Equal(sample.Past) || refused {
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

// startKong runs the gateway of an unpacked export and gives the file that has
// everything it printed. settings go before what the launcher would take.
func startKong(t *testing.T, export string, up *upstream, settings ...string) (*peer, string) {
	t.Helper()
	return startKongUntil(t, filepath.Join(export, "gateway"), up, (*peer).routed, settings...)
}

// startKongUntil is startKong of any folder that a launcher takes. It waits until the peer is ready.
func startKongUntil(
	t *testing.T, folder string, up *upstream, ready func(*peer) error, settings ...string,
) (*peer, string) {
	t.Helper()
	launcher := os.Getenv("POSTERN_KONG")
	if launcher == "" {
		t.Fatal("conformance: not run: POSTERN_KONG is not set to a launcher of Kong 3.9, such as tools/kong-docker")
	}
	proxy, admin := ports.Port(t), ports.Port(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "kong.log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(launcher, folder, strconv.Itoa(proxy), strconv.Itoa(admin))
	cmd.Env = append(append(os.Environ(), shipped(t, folder)...), settings...)
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
	p := &peer{
		name:  "kong",
		addr:  "127.0.0.1:" + strconv.Itoa(proxy),
		admin: "127.0.0.1:" + strconv.Itoa(admin),
		up:    up,
	}
	waitFor(t, "Kong", func() error { return ready(p) })
	return p, log.Name()
}

var shippedSetting = regexp.MustCompile(
	`(?m)^ +(KONG_[A-Z_]*LOG[A-Z_]*|KONG_HEADERS|KONG_REQUEST_DEBUG|KONG_NGINX_(?:HTTP|PROXY)_[A-Z_]+): "(.*)"$`)

// shipped is what the exported compose file says of logs, which decides on what of
// a call is kept, of the memory that calls are counted in, and of how nginx proxies.
// A launcher of Docker's Kong reads the whole file.
func shipped(t *testing.T, folder string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "docker-compose.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var settings []string
	for _, m := range shippedSetting.FindAllStringSubmatch(string(text), -1) {
		if m[2] != "/dev/stdout" { // a launcher's own output may be no file that nginx can open
			settings = append(settings, m[1]+"="+m[2])
		}
	}
	if len(settings) == 0 {
		t.Fatal("docker-compose.yaml says nothing of logs")
	}
	return settings
}
