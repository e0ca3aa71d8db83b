//go:build conformance

package conformance

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postern/testkit/sample"
	"postern/testkit/scripted"
)

// The exported start.sh asks each upstream through a real Kong, and leaves the
// gateway as it found it.
func TestConformance_startWithUpstreams(t *testing.T) {
	up := newUpstream(t)
	up.secure = newSecureUpstreams(t)
	folder := export(t, up)
	kong, _ := startKong(t, folder, up, "KONG_NGINX_PROXY_PROXY_SSL_TRUSTED_CERTIFICATE="+up.secure.file)
	text := runStart(t, folder, kong, sample.Keys()["allenvs"].Plaintext)
	for _, want := range []string{
		"ok    the upstream of /1.0.0/prod/ responds: 200",
		"ok    the upstream of /open/prod/ responds: 200",
		"FAIL  the upstream of /zdead/prod/ does not respond: the gateway returned 502",
		"ok    /1.0.0/prod/ without a key: 401",
		"with your key: let through, and the upstream returned 200",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("start.sh does not say %q", want)
		}
	}
	if t.Failed() {
		t.Logf("start.sh says:\n%s", text)
	}
	if out := kong.send(get("after", prod+"/x", key(sample.Keys()["active"]))); out.Status != http.StatusOK {
		t.Errorf("a call after start.sh: status %d", out.Status)
	}
}

// runStart returns the output of the exported start.sh for a Kong that already runs. It
// reads the key from its standard input; env is added to its environment.
func runStart(t *testing.T, folder string, kong *peer, key string, env ...string) string {
	t.Helper()
	status := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(status.Close)
	bin := t.TempDir()
	writeFile(t, filepath.Join(bin, "docker"), "#!/bin/sh\nexit 0\n")
	if err := os.Chmod(filepath.Join(bin, "docker"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(folder, "gateway", "start.sh"), "--key", "-")
	cmd.Stdin = strings.NewReader(key)
	cmd.Env = append([]string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "KONG_PROXY_PORT=" + portOf(t, kong.addr),
		"KONG_ADMIN_PORT=" + portOf(t, kong.admin), "KONG_STATUS_PORT=" + portOf(t, status.Listener.Addr().String()),
	}, env...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("start.sh: %v\n%s", err, text)
	}
	return string(text)
}

func portOf(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// A call whose upstream sends an interim answer gets one 502 on a connection that then ends. The upstream's next bytes
// must not follow on it: a proxy in front of the gateway would take it for the answer to another caller. With HEAD it
// may reach the next call unless Kong keeps no connections to upstreams, as the ledger says.
func TestConformance_interimAnswers(t *testing.T) {
	up := newUpstream(t)
	folder := export(t, up)
	for name, run := range map[string]struct {
		settings, methods []string
	}{
		"as exported": {methods: []string{http.MethodGet, http.MethodPost}},
		"no upstream keepalive": {
			settings: []string{"KONG_UPSTREAM_KEEPALIVE_POOL_SIZE=0"},
			methods:  []string{http.MethodGet, http.MethodHead, http.MethodPost},
		},
	} {
		t.Run(name, func(t *testing.T) {
			kong, _ := startKong(t, folder, up, run.settings...)
			for _, script := range append(scripted.Interims(), scripted.InterimEnds()...) {
				for _, method := range run.methods {
					t.Run(script.Name+"/"+method, func(t *testing.T) {
						call := one(script.Name, method, projectHost, prod+scripted.Path+script.Name,
							key(sample.Keys()["active"]))
						checkRefusedOnce(t, method, everythingSent(t, kong, call.Request+call.Request))
					})
				}
			}
		})
	}
}

// checkRefusedOnce checks that answers is a single 502 that announces the end of its
// connection.
func checkRefusedOnce(t *testing.T, method, answers string) {
	t.Helper()
	head, body, _ := strings.Cut(answers, "\r\n\r\n")
	if !strings.HasPrefix(head, "HTTP/1.1 502 ") {
		t.Errorf("the call is answered %q, want 502", head)
	}
	if strings.Count(head, "Connection: close") != 1 || strings.Count(head, "Connection:") != 1 {
		t.Errorf("want one line Connection: close in %q", head)
	}
	want := `{"message":"The upstream can't be reached.","code":"upstream_unreachable"}`
	if method == http.MethodHead {
		want = ""
	}
	if body != want {
		t.Errorf("behind the head comes %q, want %q and the end of the connection", body, want)
	}
}

// everythingSent returns what the gateway sends in answer to the requests until it ends
// their connection.
func everythingSent(t *testing.T, p *peer, requests string) string {
	t.Helper()
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, requests); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("the connection does not end: %v, after %q", err, text)
	}
	return string(text)
}
