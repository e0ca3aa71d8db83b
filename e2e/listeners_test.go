package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"postern/client"
	"postern/core/contract"
	"postern/e2e/harness"
	"postern/testkit"
)

// fewDescriptors has a process open 256 files at most.
var fewDescriptors = []string{"sh", "-c", `ulimit -n 256 && exec "$0" "$@"`}

// hold opens connections from an address of this machine that send nothing, and keeps
// those that are taken until the test ends.
func hold(t *testing.T, from, address string, count int) {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Second}
	for range count {
		if conn, err := dialer.Dial("tcp", address); err == nil {
			t.Cleanup(func() { _ = conn.Close() })
		}
	}
}

func hostOf(address string) string { return strings.TrimPrefix(address, "http://") }

func TestGateway_idleControlConnections(t *testing.T) {
	p := harness.ServeUnder(t, fewDescriptors, t.TempDir(), "")
	proxy := newProxy(t, p.URL)
	for i := range 3 {
		hold(t, fmt.Sprintf("127.0.0.%d", i+1), hostOf(p.URL), 200)
	}
	key := proxy.APIKeys["prod"].Key.Reveal()
	for range 20 {
		if status := oneCall(t, proxy.Project.Environments[0].URL+"/hello", key); status != http.StatusOK {
			t.Fatalf("the gateway answers %d on a new connection; its log:\n%s", status, p.Errors)
		}
	}
	// The budget admits new callers while others only wait.
	wantAnswer(t, hostOf(p.URL), "GET /healthz HTTP/1.0\r\n\r\n", "200")
	if n := strings.Count(p.Errors.String(), `msg="connections refused" listener=control`); n < 1 || n > 6 {
		t.Errorf("the log has %d lines about refused connections, want one for each reason in ten "+
			"seconds:\n%s", n, p.Errors)
	}
}

// oneCall calls on its own connection and returns the status, 0 for none.
func oneCall(t *testing.T, address, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", key)
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// wantAnswer sends bytes until an answer has the status, and returns its text.
func wantAnswer(t *testing.T, address, request, status string) string {
	t.Helper()
	return testkit.Await(t, fmt.Sprintf("%s for %q to %s", status, request, address), func() (string, bool) {
		got := exchange(address, request)
		return got, strings.HasPrefix(got, "HTTP/1.0 "+status) || strings.HasPrefix(got, "HTTP/1.1 "+status)
	})
}

// exchange is what a server answers to bytes until it closes, "" when it takes none.
func exchange(address, request string) string {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, request); err != nil {
		return ""
	}
	got, _ := io.ReadAll(bufio.NewReader(conn)) // also of a connection that was reset
	return string(got)
}

// haproxy sends no Host with its health checks, Kubernetes an address, and others the
// name of a service.
func TestHealth_anyHost(t *testing.T) {
	p := harness.Serve(t, t.TempDir(), "")
	const old, foreign, address = "HTTP/1.0\r\n\r\n",
		"HTTP/1.1\r\nHost: postern.services.internal:8080\r\nConnection: close\r\n\r\n",
		"HTTP/1.1\r\nHost: 10.4.5.6\r\nConnection: close\r\n\r\n"
	for _, listener := range []string{hostOf(p.URL), hostOf(p.Gateway)} {
		for _, path := range []string{"/healthz", "/readyz"} {
			for _, rest := range []string{old, foreign, address} {
				wantAnswer(t, listener, "GET "+path+" "+rest, "200")
			}
		}
		// A page whose name leads to this machine could read it.
		wantAnswer(t, listener, "GET /metrics "+address, "200")
		wantAnswer(t, listener, "GET /metrics "+foreign, "421")
	}
	request := "GET /signin HTTP/1.1\r\nHost: postern.services.internal\r\nConnection: close\r\n\r\n"
	if got := exchange(hostOf(p.URL), request); !strings.HasPrefix(got, "HTTP/1.1 421") {
		t.Errorf("a page under another name is answered %.40q, want 421", got)
	}
}

func TestStop_notReadyFirst(t *testing.T) {
	p := harness.Serve(t, t.TempDir(), "", "POSTERN_DRAIN=1h")
	proxy := newProxy(t, p.URL)
	if err := p.Command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for _, listener := range []string{hostOf(p.URL), hostOf(p.Gateway)} {
		wantAnswer(t, listener, "GET /readyz HTTP/1.0\r\n\r\n", "503")
		wantAnswer(t, listener, "GET /healthz HTTP/1.0\r\n\r\n", "200")
	}
	address := proxy.Project.Environments[0].URL + "/hello"
	if status := oneCall(t, address, proxy.APIKeys["prod"].Key.Reveal()); status != http.StatusOK {
		t.Errorf("a call on a new connection gets %d while the server drains, want 200", status)
	}
	endsBy(t, p, syscall.SIGTERM) // the second one
}

// endsBy sends a signal and waits for the end.
func endsBy(t *testing.T, p *harness.Process, signal os.Signal) {
	t.Helper()
	if err := p.Command.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Gone:
	case <-time.After(harness.StartWithin):
		t.Fatalf("the process goes on after %s:\n%s", signal, p.Errors)
	}
}

func TestStop_ctrlC(t *testing.T) {
	p := harness.Serve(t, t.TempDir(), "", "POSTERN_DRAIN=1h")
	endsBy(t, p, os.Interrupt)
	if code := p.Command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, p.Errors)
	}
}

// Calls under way are finished after the listeners have closed, for as long as is set.
func TestStop_runningCalls(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-release
		_, _ = io.WriteString(w, "done")
	}))
	t.Cleanup(upstream.Close)
	p := harness.Serve(t, t.TempDir(), "", "POSTERN_SHUTDOWN_TIMEOUT=1h")
	api := harness.Connect(t, p.URL, "")
	proxy, err := client.Do(t.Context(), api, contract.CreateProxy,
		contract.NewProxy{Target: upstream.URL, Name: "slow"}.Request())
	if err != nil {
		t.Fatal(err)
	}
	status := make(chan int, 1)
	go func() { status <- oneCall(t, proxy.Project.Environments[0].URL, "") }()
	<-arrived
	if err := p.Command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), harness.StartWithin)
	defer stop()
	for _, listener := range []string{hostOf(p.URL), hostOf(p.Gateway)} {
		for closed := false; !closed; {
			conn, err := new(net.Dialer).DialContext(ctx, "tcp", listener)
			if closed = err != nil; !closed {
				_ = conn.Close()
			}
			if ctx.Err() != nil {
				t.Fatalf("%s is still open", listener)
			}
		}
	}
	close(release)
	if got := <-status; got != http.StatusOK {
		t.Errorf("the call under way gets %d, want 200", got)
	}
	<-p.Gone
}
