// Package versitygw runs a real S3-speaking server for a test: Versity S3 Gateway, which
// keeps objects as files.
//
// It owns the server's process, on a port of its own, and its files. tools/setup installs the
// program in the user's cache directory.
package versitygw

import (
	"bytes"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	_ "embed"

	"postern/testkit"
)

// The credentials of every server.
const (
	AccessKey = "postern-test-access"
	SecretKey = "postern-test-secret-canary"
)

// Bucket is the name of the bucket that every server has.
const Bucket = "zips"

// Server is a running S3 server.
type Server struct {
	t        testing.TB
	address  string
	objects  string // directory with a directory for each bucket
	metadata string
	process  *exec.Cmd
	output   bytes.Buffer
}

//go:embed pinned
var pinned string

var versionLine = regexp.MustCompile(`(?m)^version=(.+)$`)

// Start runs a server until the test ends. Without the program, the test fails.
func Start(t testing.TB) *Server {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, address: l.Addr().String(), objects: t.TempDir(), metadata: t.TempDir()}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(s.objects, Bucket), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Up()
	t.Cleanup(func() {
		s.Down()
		if t.Failed() {
			t.Logf("versitygw wrote:\n%s", s.output.String())
		}
	})
	return s
}

// URL returns what --blob-url names the bucket with.
func (s *Server) URL() string { return "s3://" + Bucket + "?endpoint=" + s.Endpoint() }

// Endpoint returns the server's URL.
func (s *Server) Endpoint() string { return "http://" + s.address }

// Environ returns the variables that a process reaches the server with, and which keep those
// of the machine from it. Requests are repeated once, which suffices for connections that the
// server has closed.
func Environ() []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + AccessKey,
		"AWS_SECRET_ACCESS_KEY=" + SecretKey,
		"AWS_SESSION_TOKEN=",
		"AWS_PROFILE=",
		"AWS_REGION=",
		"AWS_DEFAULT_REGION=",
		"AWS_CONFIG_FILE=" + os.DevNull,
		"AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_MAX_ATTEMPTS=2",
	}
}

// SetEnviron sets the variables of Environ until the test ends.
func SetEnviron(t testing.TB) {
	t.Helper()
	for _, pair := range Environ() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
}

// Up starts the server where it was before, with the objects it had.
func (s *Server) Up() {
	s.t.Helper()
	s.process = exec.Command(
		program(s.t), "--port", s.address, "--quiet", "posix", "--sidecar", s.metadata, s.objects,
	)
	s.process.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+AccessKey, "ROOT_SECRET_ACCESS_KEY="+SecretKey)
	s.process.Stdout, s.process.Stderr = &s.output, &s.output
	endWithTests(s.process)
	if err := s.process.Start(); err != nil {
		s.t.Fatalf("start versitygw: %v (run tools/setup)", err)
	}
	testkit.Await(s.t, "an answer of versitygw", func() (error, bool) {
		conn, err := new(net.Dialer).DialContext(s.t.Context(), "tcp", s.address)
		if err == nil {
			_ = conn.Close()
		}
		return err, err == nil
	})
}

// Down ends the server as a crash would.
func (s *Server) Down() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

// Put creates an object without the server.
func (s *Server) Put(key, content string) {
	s.t.Helper()
	path := filepath.Join(s.objects, Bucket, filepath.FromSlash(key))
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// Keys returns the names of all objects, without the server. Uploads that are not completed
// are none.
func (s *Server) Keys() (keys []string) {
	s.t.Helper()
	bucket := filepath.Join(s.objects, Bucket)
	err := filepath.WalkDir(bucket, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == ".sgwtmp" {
			return filepath.SkipDir
		}
		if !entry.IsDir() {
			key, err := filepath.Rel(bucket, path)
			keys = append(keys, filepath.ToSlash(key))
			return err
		}
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return keys
}

// Uploads counts the uploads that are neither completed nor aborted.
func (s *Server) Uploads() int {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.objects, Bucket, ".sgwtmp", "multipart", "*", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(found)
}

func program(t testing.TB) string {
	t.Helper()
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		cache = filepath.Join(home, ".cache")
	}
	version := versionLine.FindStringSubmatch(pinned)[1]
	path := filepath.Join(cache, "postern", fmt.Sprintf("versitygw-%s", version), "versitygw")
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("no versitygw for this test: %v (run tools/setup)", err)
	}
	return path
}
