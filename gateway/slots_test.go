package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// slowly begins a call whose body does not come.
func (r *rig) slowly(t *testing.T, address, framing string) net.Conn {
	t.Helper()
	conn := r.from(address)
	_, _ = io.WriteString(conn, request("POST", "/shop/1.0.0/prod", r.addr, framing)+"4\r\npart\r\n")
	return conn
}

func (r *rig) waitForCalls(t *testing.T, n int) {
	t.Helper()
	testkit.Await(t, fmt.Sprintf("%d calls at the upstream", n), func() (int, bool) {
		got := len(r.upstreamCalls())
		return got, got >= n
	})
}

var framings = map[string]string{"engine": "Content-Length: 1000", "net/http": "Transfer-Encoding: chunked"}

// One address that sends its bodies slowly leaves slots for others.
func TestSlots_oneAddress(t *testing.T) {
	const all, ofOne = 8, 4
	for way, framing := range framings {
		t.Run(way, func(t *testing.T) {
			r := newRig(t, parityUpstream, withMode(snapshot.Passthrough), withLimits(gateway.Limits{InProgress: all}))
			for range ofOne {
				r.slowly(t, "127.0.0.2", framing)
			}
			r.waitForCalls(t, ofOne)
			for range all {
				conn := r.from("127.0.0.2")
				_, _ = io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr))
				got := r.readReply(bufio.NewReader(conn), "GET")
				r.wantCode("one more", got, 429, "rate_limited")
				if got.Header.Get("Retry-After") != "1" {
					t.Errorf("one more is told to come back after %q", got.Header.Get("Retry-After"))
				}
			}
			for range ofOne {
				r.wantCode("another address", r.get("/shop/1.0.0/prod"), 200, "")
			}
		})
	}
}

// The slots come back, whatever address and environment a connection's calls are of.
func TestSlots_returned(t *testing.T) {
	proxy := func(_ *rig, o *gateway.Options) { o.Trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} }
	for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(way, func(t *testing.T) {
			options := append(options, proxy, withMode(snapshot.Passthrough), withLimits(gateway.Limits{InProgress: 2}))
			r := newRig(t, nil, options...)
			conn := r.dial()
			defer func() { _ = conn.Close() }()
			from := bufio.NewReader(conn)
			for i := range 20 {
				environment := []string{"dev", "prod", "prod"}[i%3]
				address := []string{"192.0.2.1", "192.0.2.2"}[i%2]
				_, _ = io.WriteString(
					conn,
					request("GET", "/shop/1.0.0/"+environment, r.addr, "X-Forwarded-For: "+address),
				)
				r.wantCode(environment+" from "+address, r.readReply(from, "GET"), 200, "")
			}
		})
	}
}

// A body that comes too slowly ends its call, even though each piece comes in time.
func TestBody_slow(t *testing.T) {
	limits := withLimits(gateway.Limits{BodyRate: 1 << 20, BodyGrace: 200 * time.Millisecond})
	for way, framing := range framings {
		t.Run(way, func(t *testing.T) {
			r := newRig(t, parityUpstream, withMode(snapshot.Passthrough), limits)
			conn := r.slowly(t, "127.0.0.1", framing)
			ended := make(chan struct{})
			defer func() { <-ended }()
			defer func() { _ = conn.Close() }()
			go func() {
				defer close(ended)
				pause := time.NewTicker(20 * time.Millisecond)
				defer pause.Stop()
				for err := error(nil); err == nil; <-pause.C {
					_, err = io.WriteString(conn, "1\r\nx\r\n")
				}
			}()
			got := r.readReply(bufio.NewReader(conn), "POST")
			r.wantCode("the call", got, 408, "request_timeout")
			if !got.Close {
				t.Error("the connection goes on")
			}
		})
	}
}

// A caller who pauses for too long is told so.
func TestBody_slowCaller(t *testing.T) {
	for way, framing := range framings {
		t.Run(way, func(t *testing.T) {
			r := newRig(
				t,
				parityUpstream,
				withMode(snapshot.Passthrough),
				withLimits(gateway.Limits{Idle: 100 * time.Millisecond}),
			)
			got := r.readReply(bufio.NewReader(r.slowly(t, "127.0.0.1", framing)), "POST")
			r.wantCode("the call", got, 408, "request_timeout")
		})
	}
}
