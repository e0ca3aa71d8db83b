// Package pgbouncer runs a real pgbouncer before the PostgreSQL server of a test.
//
// It owns the pooler's process; it does not own the server behind it (testkit).
package pgbouncer

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"postern/testkit"
)

// Start runs a pooler in a pool mode (session, transaction or statement) until the
// test ends, and returns the URL of the database through it. It has that many sessions.
func Start(t testing.TB, databaseURL, mode string, sessions int) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal("the address isn't a URL") // not repeated: it holds a password
	}
	port := freePort(t)
	config := configuration(t, u, mode, port, sessions)
	args := []string{"-q", config}
	if os.Geteuid() == 0 { // as which it does not run
		args = append([]string{"-u", account(t)}, args...)
	}
	process := exec.Command(program(t), args...)
	process.Stderr = t.Output()
	if err := process.Start(); err != nil {
		t.Fatalf("start pgbouncer (Debian: pgbouncer): %v", err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	through := *u
	through.Host = net.JoinHostPort("127.0.0.1", port)
	wait(t, through.Host)
	return through.String()
}

func configuration(t testing.TB, server *url.URL, mode, port string, sessions int) string {
	t.Helper()
	password, _ := server.User.Password()
	text := fmt.Sprintf(`[databases]
* = host=%s port=%s user=%s password=%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = %d
`, server.Hostname(), server.Port(), server.User.Username(), password, port, mode, sessions)
	dir, err := os.MkdirTemp("", "postern-pgbouncer-") // t.TempDir is for root alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "pgbouncer.ini")
	for _, err := range []error{os.Chmod(dir, 0o755), os.WriteFile(path, []byte(text), 0o644)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// program finds pgbouncer, which Debian keeps out of the path of most users.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("pgbouncer is missing: run tools/setup (Debian: pgbouncer)")
	return ""
}

func account(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return name
		}
	}
	t.Fatal("root may not run pgbouncer, and neither the user postgres nor nobody exists")
	return ""
}

func wait(t testing.TB, address string) {
	t.Helper()
	testkit.Eventually(t, "pgbouncer to be ready", func() bool {
		conn, err := new(net.Dialer).DialContext(context.Background(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

func freePort(t testing.TB) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()[strings.LastIndexByte(l.Addr().String(), ':')+1:]
}
