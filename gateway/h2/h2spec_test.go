package h2_test

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"testing"

	"github.com/summerwind/h2spec"
	"github.com/summerwind/h2spec/config"
)

// TestServer_h2spec runs h2spec, the public test suite for HTTP/2 (RFC 7540, which RFC 9113 replaced) and HPACK (RFC
// 7541), with its strict cases. It prints the cases that fail.
func TestServer_h2spec(t *testing.T) {
	bounds := limits()
	bounds.HeaderBytes = 64 << 10
	r := newRig(t, bounds, func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		_, _ = io.WriteString(w, "an answer with a body, for the cases on flow control")
	})
	host, port, err := net.SplitHostPort(r.addr)
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	passed, err := h2spec.Run(&config.Config{
		Host: host, Port: number, Path: "/", Timeout: patience, Strict: true,
		MaxHeaderLen: 16000, // five of them are longer than a frame may be
	})
	if err != nil || !passed {
		t.Errorf("passed: %v, error %v", passed, err)
	}
}
