package e2e

import (
	"bufio"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"postern/e2e/harness"
)

// Calls through the engine and through net/http are logged, each once, without their keys.
func TestAccessLog(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "access.log")
	server := harness.Serve(t, t.TempDir(), "", "POSTERN_ACCESS_LOG=full", "POSTERN_ACCESS_LOG_FILE="+file)
	proxy := newProxy(t, server.URL)
	key := createKeys(t, harness.Connect(t, server.URL, proxy.WorkspaceKey.Reveal()), proxy.Project.ID, 1)[0]
	address := callAddress(server, proxy)
	harness.WaitForStatus(t, address+"?token=canary", key.Secret.Reveal(), http.StatusOK)
	harness.WaitForStatus(t, address+"/"+key.Secret.Reveal(), "wrong", http.StatusUnauthorized)
	upgrade(t, server.Gateway, address, key.Secret.Reveal())
	server.End(t, syscall.SIGTERM)

	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{key.Secret.Reveal(), "canary"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("the access log has %q", secret)
		}
	}
	got := map[string]int{}
	lines := bufio.NewScanner(strings.NewReader(string(text)))
	for lines.Scan() {
		var line struct {
			Status                    int
			Code, Project, Credential string
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%s: %v", lines.Text(), err)
		}
		if line.Project != proxy.Project.ID {
			t.Errorf("a line is of the project %q: %s", line.Project, lines.Text())
		}
		got[http.StatusText(line.Status)+" "+line.Code+" "+strings.ReplaceAll(line.Credential, key.ID, "ours")]++
	}
	if got["OK  ours"] != 2 || got["Unauthorized invalid_key "] == 0 {
		t.Errorf("got the lines %v, want two calls with the key and one that was refused:\n%s", got, text)
	}
}

// upgrade sends a call that requests a tunnel, which net/http serves.
func upgrade(t *testing.T, gateway, address, key string) {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(gateway, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"X-API-Key": key, "Connection": "Upgrade, close", "Upgrade": "unknown-protocol",
	} {
		r.Header.Set(name, value)
	}
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	t.Logf("an upgrade to an unknown protocol is answered %s", answer.Status)
}
