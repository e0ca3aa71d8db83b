package servers

import (
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"postern/testkit"
	"postern/testkit/ports"
)

// The credentials of every server.
const (
	S3AccessKey = "postern-test-access"
	S3SecretKey = "postern-test-secret-canary"
)

// S3Bucket is the name of the bucket that every server has.
const S3Bucket = "zips"

// S3 is a running Versity S3 Gateway, which speaks S3 and keeps objects as files.
type S3 struct {
	t        testing.TB
	address  string
	objects  string // directory with a directory for each bucket
	metadata string
	process  *exec.Cmd
	output   testkit.LogBuffer
}

// StartS3 runs a server until the test ends. Without the program, the test fails.
func StartS3(t testing.TB) *S3 {
	t.Helper()
	s := &S3{t: t, address: ports.Address(t), objects: t.TempDir(), metadata: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.objects, S3Bucket), 0o700); err != nil {
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
func (s *S3) URL() string { return "s3://" + S3Bucket + "?endpoint=" + s.Endpoint() }

// Endpoint returns the server's URL.
func (s *S3) Endpoint() string { return "http://" + s.address }

// S3Environ returns the variables that a process reaches the server with, and which keep those
// of the machine from it. Requests are repeated once, which suffices for connections that the
// server has closed.
func S3Environ() []string {
	return []string{
		"AWS_ACCESS_KEY_ID=" + S3AccessKey,
		"AWS_SECRET_ACCESS_KEY=" + S3SecretKey,
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

// SetS3Environ sets the variables of Environ until the test ends.
func SetS3Environ(t testing.TB) {
	t.Helper()
	for _, pair := range S3Environ() {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
}

// Up starts the server where it was before, with the objects it had.
func (s *S3) Up() {
	s.t.Helper()
	s.process = exec.Command(
		program(s.t, "versitygw"), "--port", s.address, "--quiet", "posix", "--sidecar", s.metadata, s.objects,
	)
	s.process.Env = append(os.Environ(), "ROOT_ACCESS_KEY_ID="+S3AccessKey, "ROOT_SECRET_ACCESS_KEY="+S3SecretKey)
	s.process.Stdout, s.process.Stderr = &s.output, &s.output
	endWithTests(s.process)
	if err := s.process.Start(); err != nil {
		s.t.Fatalf("start versitygw: %v (run tools/setup)", err)
	}
	testkit.Eventually(s.t, "an answer of versitygw", func() bool {
		conn, err := new(net.Dialer).DialContext(s.t.Context(), "tcp", s.address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
}

// Down ends the server as a crash would.
func (s *S3) Down() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

// Put creates an object without the server.
func (s *S3) Put(key, content string) {
	s.t.Helper()
	path := filepath.Join(s.objects, S3Bucket, filepath.FromSlash(key))
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
func (s *S3) Keys() (keys []string) {
	s.t.Helper()
	bucket := filepath.Join(s.objects, S3Bucket)
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
func (s *S3) Uploads() int {
	s.t.Helper()
	found, err := filepath.Glob(filepath.Join(s.objects, S3Bucket, ".sgwtmp", "multipart", "*", "*"))
	if err != nil {
		s.t.Fatal(err)
	}
	return len(found)
}
