//go:build unix

// Package pgserver runs a PostgreSQL server on loopback, with its own data.
//
// It owns the server's process and directory. It leaves databases and their tables to
// testkit and testkit/state, and PostgreSQL itself to tools/setup.
package pgserver

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"postern/testkit/ports"
)

// How long a server may take to come up and to stop. Both take well under a
// second on an idle machine; a loaded one needs patience rather than an error.
const (
	startLimit = 2 * time.Minute
	stopLimit  = 20 * time.Second
)

// Server is a PostgreSQL server with all it keeps in one directory.
type Server struct {
	bin      string // directory of PostgreSQL's programs
	dir      string
	port     int
	password string
	durable  bool
	account  *syscall.Credential // nil: runs as we do
	cmd      *exec.Cmd
	died     chan struct{} // closed when the process has ended, after failure is set
	failure  error
}

// URL is the postgres:// address of the server, with the right to create databases.
func (s *Server) URL() string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword("postern", s.password),
		Host:     net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)),
		Path:     "/postgres",
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Died is closed when the server has ended. Err then says how.
func (s *Server) Died() <-chan struct{} { return s.died }

// Err is how the server ended, with the last lines of its log.
func (s *Server) Err() error { return s.failure }

// Start creates a database cluster in a new directory and waits until its server
// accepts connections. Commits survive a crash of the server only if it is durable,
// which costs tests a lot of time.
func Start(durable bool) (*Server, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	account, err := unprivileged()
	if err != nil {
		return nil, err
	}
	parent := ""
	if !durable {
		parent = tempDir()
	}
	dir, err := os.MkdirTemp(parent, "postern-postgres-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the data: %w", err)
	}
	s := &Server{bin: bin, dir: dir, password: rand.Text(), durable: durable, account: account}
	if err := s.create(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.launch(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return s, nil
}

// create runs initdb.
func (s *Server) create() error {
	passwords := filepath.Join(s.dir, "password")
	if err := os.WriteFile(passwords, []byte(s.password+"\n"), 0o600); err != nil {
		return fmt.Errorf("write the password for initdb: %w", err)
	}
	if s.account != nil {
		for _, path := range []string{s.dir, passwords} {
			if err := os.Chown(path, int(s.account.Uid), int(s.account.Gid)); err != nil {
				return fmt.Errorf("hand the data to the server's account: %w", err)
			}
		}
	}
	cmd := s.command(filepath.Join(s.bin, "initdb"), "--pgdata="+s.data(), "--username=postern",
		"--pwfile="+passwords, "--auth=scram-sha-256", "--encoding=UTF8", "--no-locale", "--no-sync")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd.Path, err, out)
	}
	return os.Remove(passwords)
}

// launch starts the server on a reserved port.
func (s *Server) launch() error {
	port, err := ports.Reserve()
	if err != nil {
		return err
	}
	s.port = port
	return s.Up()
}

// Up starts the server on its port and its data, and waits until it accepts
// connections. Down has ended it before.
func (s *Server) Up() error {
	line := []string{
		"-D", s.data(), "-p", strconv.Itoa(s.port),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		// Tests run in parallel, each with a pool for its own database.
		"-c", "max_connections=400",
		// The data may be in memory, where a log of a gigabyte is too much.
		"-c", "max_wal_size=256MB",
		// Above "error", because tests provoke those; "log" carries the readiness.
		"-c", "logging_collector=off", "-c", "log_destination=stderr", "-c", "log_min_messages=log",
	}
	if !s.durable {
		// The data does not outlive the run, so nothing has to survive a crash.
		line = append(line, "-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off")
	}
	s.cmd = s.command(filepath.Join(s.bin, "postgres"), line...)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("read the server's log: %w", err)
	}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.cmd.Path, err)
	}
	ready, logged := make(chan struct{}), make(chan string, 1)
	go func() { logged <- watch(stderr, ready) }()
	s.died = make(chan struct{})
	go func() {
		// The pipe has to be read to its end before Wait closes it.
		text := <-logged
		err := s.cmd.Wait()
		s.failure = fmt.Errorf("PostgreSQL ended: %w\n%s", err, text)
		close(s.died)
	}()
	select {
	case <-ready:
		return nil
	case <-s.died:
		return s.failure
	case <-time.After(startLimit):
		return errors.Join(fmt.Errorf("PostgreSQL was not ready after %s", startLimit), s.kill(syscall.SIGKILL))
	}
}

// watch reads the server's log to its end, closes ready at the line that says
// so, and returns the last lines.
func watch(r io.Reader, ready chan<- struct{}) string {
	const keep = 40
	var last []string
	open := false
	for lines := bufio.NewScanner(r); lines.Scan(); {
		if !open && strings.Contains(lines.Text(), "database system is ready to accept connections") {
			close(ready)
			open = true
		}
		last = append(last, lines.Text())
		if len(last) > keep {
			last = last[1:]
		}
	}
	return strings.Join(last, "\n")
}

// Down ends the server and keeps its data. SIGINT is PostgreSQL's "fast shutdown", which
// does not wait for clients, SIGQUIT its "immediate" one, a crash.
func (s *Server) Down(signal syscall.Signal) error { return s.kill(signal) }

// Stop ends the server and removes its data. It does not wait for clients.
func (s *Server) Stop() error {
	var err error
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		if err = s.kill(sig); err == nil {
			break
		}
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

func (s *Server) kill(sig syscall.Signal) error {
	if err := s.cmd.Process.Signal(sig); errors.Is(err, os.ErrProcessDone) {
		return nil
	} else if err != nil {
		return fmt.Errorf("stop PostgreSQL: %w", err)
	}
	select {
	case <-s.died:
		return nil
	case <-time.After(stopLimit):
		return fmt.Errorf("PostgreSQL (process %d) did not end on %s within %s", s.cmd.Process.Pid, sig, stopLimit)
	}
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// command prepares one of PostgreSQL's programs to run as the account that owns the data, in its own process group: an
// interrupt typed at the terminal goes to a whole group, and would take the server away under running tests.
func (s *Server) command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = s.dir
	// The log is parsed in English.
	cmd.Env = append(os.Environ(), "LC_ALL=C", "LC_MESSAGES=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.account}
	EndWithParent(cmd.SysProcAttr)
	return cmd
}
