//go:build conformance

package conformance

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"postern/bundle"
	"postern/testkit/sample"
)

// droppingUpstream answers the first call over each connection, and closes the connection after it has read the
// second one, as servers do that restart.
type droppingUpstream struct {
	mu   sync.Mutex
	seen []string // the methods of the calls that were read, answered or not
}

func startDroppingUpstream(t *testing.T) (*droppingUpstream, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u := &droppingUpstream{}
	var connections sync.WaitGroup
	connections.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			connections.Go(func() { u.serve(conn) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		connections.Wait()
	})
	return u, "http://" + listener.Addr().String()
}

func (u *droppingUpstream) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for n := range 2 {
		request, err := http.ReadRequest(in)
		if err != nil {
			return // the gateway has closed it
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		u.mu.Lock()
		u.seen = append(u.seen, request.Method)
		u.mu.Unlock()
		if n == 0 {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	}
}

func (u *droppingUpstream) take() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	out := u.seen
	u.seen = nil
	return out
}

// An upstream that drops a kept connection gets a call a second time only as the item request_limits.repeated_calls
// says: by the hosted gateway if the method is idempotent, by Kong whatever its method, but for three.
func TestConformanceDroppedConnections(t *testing.T) {
	dropping, address := startDroppingUpstream(t)
	up := newUpstream(t)
	project, keys := sample.Fresh(address, sample.RequiresKeys())
	folder := exportOf(t, project, keys, bundle.Options{Consumers: true})
	if !declarations(t, folder)["request_limits.repeated_calls"] {
		t.Fatal("the ledger does not say that calls are repeated")
	}
	kong, _ := startKong(t, folder, up)
	postern := startPosternOf(t, up, project, keys)
	active := key(keys["active"])
	for _, test := range []struct {
		method           string
		body             bool
		hosted, exported bool // sent a second time
	}{
		{"GET", false, true, true},
		{"HEAD", false, true, true},
		{"OPTIONS", false, true, true},
		{"PUT", false, true, true},
		{"PUT", true, true, true},
		{"DELETE", false, true, true},
		{"PROPFIND", false, false, true},
		{"GET", true, true, true},
		{"POST", false, false, false},
		{"POST", true, false, false},
		{"PATCH", true, false, false},
		{"LOCK", false, false, false},
	} {
		for peer, again := range map[*peer]bool{postern: test.hosted, kong: test.exported} {
			t.Run(fmt.Sprintf("%s, body %t, %s", test.method, test.body, peer.name), func(t *testing.T) {
				conn, in := peer.connect(t)
				status := sendAndRead(t, conn, in, get("", prod+"/x", active)) // leaves a kept connection behind
				if status != http.StatusOK {
					t.Fatalf("the first call: %d", status)
				}
				call := one("", test.method, projectHost, prod+"/x", active)
				if test.body {
					call = withBody("", test.method, projectHost, prod+"/x", "hello", active, length(5))
				}
				dropping.take()
				status = sendAndRead(t, conn, in, call)
				want := test.method
				if again {
					want += " " + test.method
				}
				if got := strings.Join(dropping.take(), " "); got != want {
					t.Errorf("the upstream got %s, want %s", got, want)
				}
				if again != (status == http.StatusOK) {
					t.Errorf("status %d, sent a second time: %t", status, again)
				}
			})
		}
	}
}

// connect opens a connection, so that one process of the gateway carries all calls over it.
func (p *peer) connect(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", p.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, bufio.NewReader(conn)
}

// sendAndRead sends a call, reads its whole answer, and returns the status.
func sendAndRead(t *testing.T, conn net.Conn, in *bufio.Reader, c Case) int {
	t.Helper()
	if _, err := io.WriteString(conn, c.Request); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(c.Request, " ")
	response, _, err := readFinal(in, method)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}
