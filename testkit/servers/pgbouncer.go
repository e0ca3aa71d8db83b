package servers

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"

	"postern/testkit"
	"postern/testkit/ports"
)

// StartPgBouncer runs PgBouncer in front of the PostgreSQL server of a test until the test ends, in a pool mode
// (session, transaction or statement) with that many sessions. It returns the URL of the database through it.
func StartPgBouncer(t testing.TB, databaseURL, mode string, sessions int) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal("the address isn't a URL") // not repeated: it holds a password
	}
	port := strconv.Itoa(ports.Port(t))
	config := pgBouncerConfiguration(t, u, mode, port, sessions)
	args := []string{"-q", config}
	if os.Geteuid() == 0 { // as which it does not run
		args = append([]string{"-u", pgBouncerAccount(t)}, args...)
	}
	process := exec.Command(pgBouncerProgram(t), args...)
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
	testkit.Eventually(t, "pgbouncer to be ready", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", through.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return through.String()
}

func pgBouncerConfiguration(t testing.TB, server *url.URL, mode, port string, sessions int) string {
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

// pgBouncerProgram finds pgbouncer, which Debian keeps out of the path of most users.
func pgBouncerProgram(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("pgbouncer is missing: run tools/setup (Debian: pgbouncer)")
	return ""
}

func pgBouncerAccount(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return name
		}
	}
	t.Fatal("root may not run pgbouncer, and neither the user postgres nor nobody exists")
	return ""
}
