//go:build unix

package main

import (
	"bufio"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRun_command(t *testing.T) {
	out := filepath.Join(t.TempDir(), "address")
	code, err := run([]string{"--", "sh", "-c", `printf %s "$TESTKIT_POSTGRES_URL" >"$1"; exit 7`, "sh", out})
	if err != nil {
		t.Fatal(err)
	}
	if code != 7 {
		t.Errorf("exit code = %d, want the command's", code)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	requireGone(t, string(written))
}

func TestRun_wrongUsage(t *testing.T) {
	if code, err := run(nil); code != 2 || err == nil {
		t.Errorf("without a command: %d, %v; want 2 and an error", code, err)
	}
	if code, err := run([]string{"/does/not/exist"}); code != 1 || err == nil {
		t.Errorf("with a command that is not there: %d, %v; want 1 and an error", code, err)
	}
}

func TestRun_interrupted(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "withpostgres")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	// TMPDIR shows what was left there; the server's account must get through.
	tmp, err := os.MkdirTemp("", "withpostgres-test-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		t.Fatal(err)
	}
	// The shell's own child would survive a signal to the shell alone.
	cmd := exec.Command(binary, "sh", "-c", `echo "$TESTKIT_POSTGRES_URL"; sleep 600 & echo $!; wait`)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Scan()
	address := lines.Text()
	if !lines.Scan() {
		t.Fatalf("the command did not come up: %v", lines.Err())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	// The pipe ends when the last process that holds it does: the grandchild.
	for lines.Scan() {
		t.Errorf("unexpected output %q", lines.Text())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("exit = %v, want %d", err, 128+int(syscall.SIGTERM))
	}
	requireGone(t, address)
	left, err := os.ReadDir(tmp)
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 0 {
		t.Errorf("%d entries left in the directory for temporary files, the first is %s", len(left), left[0].Name())
	}
}

// requireGone fails when a server still answers at a postgres:// address.
func requireGone(t *testing.T, address string) {
	t.Helper()
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "postgres" {
		t.Fatalf("the command got no address of a server: %v", err)
	}
	if conn, err := net.Dial("tcp", u.Host); err == nil {
		_ = conn.Close()
		t.Errorf("the server still answers at %s", u.Host)
	}
}
