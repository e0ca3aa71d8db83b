package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestBody_length(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16)
	for _, tc := range []struct {
		name, method, lines, body string
		want                      string
		length                    int64
	}{
		{"of known length", "POST", "Content-Length: 5", "hello", "hello", 5},
		{"of no bytes", "POST", "Content-Length: 0", "", "", 0},
		{"without one", "GET", "", "", "", 0},
		{"of unknown length", "PUT", "Transfer-Encoding: chunked", "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n", "abcde", -1},
		{"of unknown length with GET", "GET", "Transfer-Encoding: chunked", "3\r\nabc\r\n0\r\n\r\n", "abc", -1},
		{"big", "POST", fmt.Sprintf("Content-Length: %d", len(big)), big, big, int64(len(big))},
		{"with DELETE", "DELETE", "Content-Length: 2", "ok", "ok", 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t, nil)
			lines := []string{"X-API-Key: " + r.key}
			if tc.lines != "" {
				lines = append(lines, tc.lines)
			}
			if got := r.raw(request(tc.method, "/shop/1.0.0/prod", r.addr, lines...) + tc.body); got.StatusCode != 200 {
				t.Fatalf("%d %s", got.StatusCode, got.body)
			}
			if call := r.lastCall(); call.body != tc.want || call.length != tc.length {
				t.Errorf(
					"the upstream got %d bytes, length %d; want %d, %d", len(call.body), call.length,
					len(tc.want), tc.length,
				)
			}
		})
	}
}

func TestTrailers_bothWays(t *testing.T) {
	type trailers struct{ header, trailer http.Header }
	got := make(chan trailers, 1)
	r := newRig(t, func(w http.ResponseWriter, req *http.Request) {
		_, _ = io.Copy(io.Discard, req.Body)
		got <- trailers{req.Header.Clone(), req.Trailer.Clone()}
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, "body")
		w.Header().Set("X-Sum", "42")
		w.Header().Set(http.TrailerPrefix+"X-Late", "43")
	})
	head := request("POST", "/shop/1.0.0/prod", r.addr,
		"X-API-Key: "+r.key, "Transfer-Encoding: chunked", "Trailer: X-Checksum, X-Consumer-ID")
	trailer := "X-Checksum: abc\r\nX-Unannounced: def\r\nX-Consumer-ID: forged\r\nx_tenant_id: forged\r\n" +
		"X-API-Key: " + r.key + "\r\nX-Forwarded-For: forged\r\n"
	answer := r.raw(head + "4\r\nbody\r\n0\r\n" + trailer + "\r\n")
	upstream := within(t, "the upstream's request", got)
	if s := fmt.Sprint(upstream.trailer); s != "map[X-Checksum:[abc] X-Unannounced:[def]]" {
		t.Errorf("the upstream got trailers %s", s)
	}
	if upstream.header.Get("X-Consumer-Id") == "forged" {
		t.Error("a trailer became a header")
	}
	if s := fmt.Sprint(answer.Trailer); s != "map[X-Late:[43] X-Sum:[42]]" || answer.body != "body" {
		t.Errorf("the caller got trailers %s", s)
	}
}
