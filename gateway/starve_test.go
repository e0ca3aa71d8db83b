package gateway_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
)

// Callers who dawdle, connections that only wait, an upstream that is stuck and
// one that dies in every response: none of them, and not all together, keep a
// healthy project from answering. How fast it answers is what `make load` compares.
func TestIsolation_healthyProject(t *testing.T) {
	const crowd = 200
	stuck := make(chan struct{}, crowd)
	hangs := rawUpstream(t, func(_ net.Conn, from *bufio.Reader) {
		if _, err := readHead(from); err == nil {
			stuck <- struct{}{}
			_, _ = readHead(from) // nothing more comes: until the end of the test
		}
	})
	dies := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		if _, err := readHead(from); err == nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")
		}
	})
	for name, line := range map[string]string{"the engine": "Accept: */*", "net/http": "TE: trailers"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil, withMode(snapshot.Passthrough), withLimits(gateway.Limits{
				InProgress:        crowd,
				InProgressFromOne: crowd,
			}), withProject(func(p *snapshot.Project) {
				environments := &p.Versions[0].Environments
				*environments = append(*environments, snapshot.Environment{
					ID:     "env_hangs",
					Name:   "hangs",
					Target: hangs,
				},
					snapshot.Environment{ID: "env_dies", Name: "dies", Target: dies})
			}))
			for range crowd {
				_, _ = io.WriteString(
					r.from("127.0.0.2"), "GET /shop/1.0.0/prod HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
				)
				r.from("127.0.0.2") // says nothing at all
				_, _ = io.WriteString(r.from("127.0.0.2"), request("GET", "/shop/1.0.0/hangs", r.addr, line))
				within(t, "the call at the stuck upstream", stuck)
			}
			ctx, stop := context.WithCancel(t.Context())
			var dying sync.WaitGroup
			defer dying.Wait()
			defer stop()
			broken := make(chan struct{}, 1)
			for range 4 {
				dying.Go(func() {
					for ctx.Err() == nil {
						if r.breaksOff(line) {
							select {
							case broken <- struct{}{}:
							default:
							}
						}
					}
				})
			}
			for range 20 {
				within(t, "an answer that is broken off", broken)
				if got := r.get("/shop/1.0.0/prod", line); got.StatusCode != http.StatusOK {
					t.Errorf("the healthy one answers %d %s", got.StatusCode, got.body)
				}
			}
		})
	}
}

// breaksOff calls the upstream that dies, and reports whether its response broke off:
// net/http has then often not sent any of it.
func (r *rig) breaksOff(line string) bool {
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/dies", r.addr, line))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil {
		_, err = io.Copy(io.Discard, resp.Body)
	}
	return err != nil && !isTimeout(err)
}
