package gateway_test

import (
	"bufio"
	"io"
	"net/http"
	"testing"
)

// The gateway's own share of a call, with net/http on both sides in the same
// process. What it is worth beside nginx, tools/bench tells.

func BenchmarkForward(b *testing.B) { benchmarkCall(b, http.StatusOK) }

func BenchmarkRefuseMissingKey(b *testing.B) { benchmarkCall(b, http.StatusUnauthorized, noKey) }

func benchmarkCall(b *testing.B, status int, lines ...string) {
	answer := make([]byte, 1024)
	r := newRig(b, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) })
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	call, from := request("GET", "/shop/1.0.0/prod/orders/42", r.addr, r.withKey(lines)...), bufio.NewReader(conn)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := io.WriteString(conn, call); err != nil {
			b.Fatal(err)
		}
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != status {
			b.Fatalf("%d, %v", resp.StatusCode, err)
		}
	}
}

func BenchmarkForwardByNetHTTP(b *testing.B) { benchmarkCall(b, http.StatusOK, "TE: trailers") }
