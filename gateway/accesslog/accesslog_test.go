package accesslog_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"postern/gateway"
	"postern/gateway/accesslog"
	"postern/testkit"
	"postern/testkit/sample"
)

func call(status int, path string) gateway.Outcome {
	return gateway.Outcome{
		ProjectID: "prj_1", VersionID: "ver_1", EnvironmentID: "env_1",
		Owner: "bílling\n\"x\"\xff", CredentialID: "key_1", RemoteIP: "192.0.2.7",
		Method: "GET", Path: path, Route: "/orders/{id}", Status: status, Step: "forward",
		BytesIn: 3, BytesOut: 1024, TraceID: "0af7651916cd43dd8448eb211c80319c",
		Start:     time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		FirstByte: 1500 * time.Microsecond, Duration: 2 * time.Millisecond,
	}
}

func open(t *testing.T, o accesslog.Options) *accesslog.Log {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	l, err := accesslog.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLine(t *testing.T) {
	var out bytes.Buffer
	l := open(t, accesslog.Options{Out: &out})
	key := sample.Plaintext("accesslog", "prod")
	l.Observe(call(200, "/orders/"+key))
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), key) || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("got %q, want one line without the key", out.String())
	}
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"time": "2026-01-02T03:04:05.000006Z", "method": "GET", "status": 200.0, "step": "forward", "project": "prj_1",
		"version": "ver_1", "environment": "env_1", "route": "/orders/{id}", "owner": "bílling\n\"x\"\ufffd",
		"credential": "key_1", "client": "192.0.2.7", "bytes_in": 3.0, "bytes_out": 1024.0, "first_byte_ms": 1.5,
		"duration_ms": 2.0, "trace_id": "0af7651916cd43dd8448eb211c80319c",
	} {
		if line[name] != want {
			t.Errorf("%s is %v, want %v", name, line[name], want)
		}
	}
	if _, found := line["code"]; found {
		t.Error("a call without a code has one")
	}
}

func TestSample(t *testing.T) {
	var out bytes.Buffer
	l := open(t, accesslog.Options{Out: &out, Every: 10})
	for n := range 100 {
		l.Observe(call(200, "/ok"))
		if n%25 == 0 {
			l.Observe(call(502, "/failed"))
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	failed := strings.Count(out.String(), `"path":"/failed"`)
	if ok := strings.Count(out.String(), `"path":"/ok"`); failed != 4 || ok < 8 || ok > 11 {
		t.Errorf("logged %d of 4 failed calls and %d of 100 others, want all and about 10", failed, ok)
	}
}

// A rotation moves the file away; lines of later calls are in a new one, and none is lost.
func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	l := open(t, accesslog.Options{Path: path})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.Run(ctx)
	}()
	l.Observe(call(200, "/before"))
	testkit.Eventually(t, "the first line", func() bool { return strings.Contains(read(path), "/before") })
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	// A line that comes while the new file is being opened is still written to the old one.
	testkit.Eventually(t, "a line in a new file", func() bool {
		l.Observe(call(200, "/after"))
		return strings.Contains(read(path), "/after")
	})
	stop()
	<-ended
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := read(path); strings.Contains(got, "/before") {
		t.Errorf("the new file has %q", got)
	}
	if l.Dropped() != 0 {
		t.Errorf("%d lines were lost", l.Dropped())
	}
}

func read(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(text)
}

// full takes some bytes and fails.
type full struct {
	io.Writer

	room int
}

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	n := min(f.room, len(p))
	f.room -= n
	_, _ = f.Writer.Write(p[:n])
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestLog_fullDisk(t *testing.T) {
	var out, log bytes.Buffer
	l := open(t, accesslog.Options{Out: &full{&out, 500}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 10 {
		l.Observe(call(200, "/x"))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if whole := strings.Count(out.String(), "\n"); l.Dropped() != int64(10-whole) || whole == 10 {
		t.Errorf("%d lines are whole and %d lost, of 10", whole, l.Dropped())
	}
	if !strings.Contains(log.String(), errFull.Error()) {
		t.Errorf("the log says %q", log.String())
	}
}

func TestOpen_settingName(t *testing.T) {
	_, err := accesslog.Open(accesslog.Options{Path: t.TempDir() + "/none/access.log"})
	if err == nil || !strings.Contains(err.Error(), "--access-log-file") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
}

func BenchmarkObserve(b *testing.B) {
	l, err := accesslog.Open(accesslog.Options{Out: io.Discard, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	go l.Run(ctx)
	out := call(200, "/1.0.0/prod/orders/42")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			l.Observe(out)
		}
	})
	b.ReportMetric(float64(l.Dropped())/float64(b.N), "dropped/op")
}
