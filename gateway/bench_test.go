package gateway_test

import (
	"bytes"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/service/ratelimit"
)

// The gateway's share of a call, between a caller and an upstream in the same process
// that do as little as they can. tools/bench compares it with other proxies.

func BenchmarkForward(b *testing.B) { benchmarkCall(b, http.StatusOK) }

func BenchmarkForwardWithUpstreamHeaders(b *testing.B) {
	benchmarkRig(b, http.StatusOK, []rigOption{withHeaders(upstreamToken)})
}

func BenchmarkForwardSigned(b *testing.B) {
	benchmarkRig(b, http.StatusOK, []rigOption{signed(signingKey("a", time.Time{}))})
}

func BenchmarkForwardCORS(b *testing.B) {
	benchmarkRig(b, http.StatusOK, []rigOption{withCORS(severalOrigins)}, appPage)
}

func BenchmarkForwardCORSOfTenant(b *testing.B) {
	benchmarkRig(b, http.StatusOK, []rigOption{withCORS(anyOrigin), withProject(func(p *snapshot.Project) {
		p.Tenants[0].CORS = &severalOrigins
	})}, appPage)
}

func BenchmarkForwardByNetHTTP(b *testing.B) { benchmarkCall(b, http.StatusOK, "TE: trailers") }

func BenchmarkRefuseMissingKey(b *testing.B) { benchmarkCall(b, http.StatusUnauthorized, noKey) }

func BenchmarkRefuseWrongKey(b *testing.B) {
	wrong, err := policy.NewKey("pst", "prod") // well-formed, so that it is looked up
	if err != nil {
		b.Fatal(err)
	}
	benchmarkCall(b, http.StatusUnauthorized, "X-API-Key: "+wrong)
}

func benchmarkCall(b *testing.B, status int, lines ...string) { benchmarkRig(b, status, nil, lines...) }

func benchmarkRig(b *testing.B, status int, more []rigOption, lines ...string) {
	each := snapshot.Limits{snapshot.Minute: 1 << 40}
	r := newRig(b, nil, append(more,
		withTarget("http://"+fixedUpstream(b)+"/base"),
		withProject(func(p *snapshot.Project) {
			p.Limits = snapshot.ProjectLimits{Key: each, Owner: each, IP: each, Project: each}
		}),
		func(_ *rig, o *gateway.Options) { o.Limiter, o.Observer = ratelimit.NewLocal(), discard{} },
	)...)
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Time{})
	call := []byte(request("GET", "/shop/1.0.0/prod/orders/42", r.addr, r.withKey(lines)...))
	begin, buf := []byte("HTTP/1.1 "+strconv.Itoa(status)+" "), make([]byte, 8<<10)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := conn.Write(call); err != nil {
			b.Fatal(err)
		}
		if answer := readFixed(b, conn, buf); !bytes.HasPrefix(answer, begin) {
			b.Fatalf("answered %q", answer)
		}
	}
}

// fixedUpstream answers each request without a body in the same way.
func fixedUpstream(b *testing.B) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	const head = "HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\n" +
		"Content-Type: application/json\r\nContent-Length: 1024\r\nConnection: keep-alive\r\n\r\n"
	answer := append([]byte(head), make([]byte, 1024)...)
	go func() {
		for conn, err := l.Accept(); err == nil; conn, err = l.Accept() {
			go func() {
				defer func() { _ = conn.Close() }()
				for buf := make([]byte, 8<<10); ; {
					if _, err := conn.Read(buf); err != nil {
						return
					}
					if _, err := conn.Write(answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// readFixed reads one answer with a Content-Length.
func readFixed(b *testing.B, conn net.Conn, buf []byte) []byte {
	for n, whole := 0, len(buf); ; {
		more, err := conn.Read(buf[n:whole])
		if err != nil {
			b.Fatal(err)
		}
		n += more
		if head, _, ok := bytes.Cut(buf[:n], []byte("\r\n\r\n")); ok && whole == len(buf) {
			_, length, _ := bytes.Cut(head, []byte("Content-Length: "))
			length, _, _ = bytes.Cut(length, []byte("\r\n"))
			size, err := strconv.Atoi(string(length))
			if err != nil {
				b.Fatal(err)
			}
			whole = len(head) + len("\r\n\r\n") + size
		}
		if n == whole {
			return buf[:n]
		}
	}
}

type discard struct{}

func (discard) Observe(gateway.Outcome)               {}
func (d discard) ForConnection() gateway.CallObserver { return d }
