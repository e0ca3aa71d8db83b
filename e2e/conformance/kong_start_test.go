//go:build conformance

package conformance

import (
	"bufio"
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
func TestConformanceStartAsksUpstreams(t *testing.T) {
	up := newUpstream(t)
	up.secure = newSecureUpstreams(t)
	folder := export(t, up)
	kong, _ := startKong(t, folder, up, "KONG_NGINX_PROXY_PROXY_SSL_TRUSTED_CERTIFICATE="+up.secure.file)
	status := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(status.Close)
	bin := t.TempDir()
	writeFile(t, filepath.Join(bin, "docker"), "#!/bin/sh\nexit 0\n")
	if err := os.Chmod(filepath.Join(bin, "docker"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", filepath.Join(folder, "gateway", "start.sh"), "--key", "-")
	cmd.Stdin = strings.NewReader(sample.Keys()["allenvs"].Plaintext)
	cmd.Env = []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "KONG_PROXY_PORT=" + portOf(t, kong.addr),
		"KONG_ADMIN_PORT=" + portOf(t, kong.admin), "KONG_STATUS_PORT=" + portOf(t, status.Listener.Addr().String()),
	}
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("start.sh: %v\n%s", err, text)
	}
	for _, want := range []string{
		"ok    the upstream of /1.0.0/prod/ answers: 200",
		"ok    the upstream of /open/prod/ answers: 200",
		"WRONG the upstream of /zdead/prod/ does not answer: the gateway says 502",
		"ok    /1.0.0/prod/ without a key: 401",
		"with your key: let through, and the upstream answers 200",
	} {
		if !strings.Contains(string(text), want) {
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

func portOf(t *testing.T, addr string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// What an upstream sends behind an interim answer never reaches the caller's
// connection as it is: a proxy in front of the gateway would take it for the answer
// to another caller.
func TestConformanceInterimAnswersAreRefused(t *testing.T) {
	up := newUpstream(t)
	kong, _ := startKong(t, export(t, up), up)
	for _, script := range scripted.Interims() {
		t.Run(script.Name, func(t *testing.T) {
			conn, err := net.Dial("tcp", kong.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			request := get(script.Name, prod+scripted.Path+script.Name, key(sample.Keys()["active"])).Request
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if response.StatusCode != http.StatusBadGateway || !response.Close ||
				!strings.Contains(string(body), `"upstream_unreachable"`) {
				t.Errorf(
					"status %d, to be closed: %t, body %q; want 502 upstream_unreachable on a connection that ends",
					response.StatusCode,
					response.Close,
					body,
				)
			}
		})
	}
}
