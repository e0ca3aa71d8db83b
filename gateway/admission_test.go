package gateway_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"postern/gateway"
	"postern/testkit"
)

// dialFrom connects from an address of this machine: all of 127.0.0.0/8 is.
func (r *rig) dialFrom(local string) (net.Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(local)}}
	conn, err := dialer.DialContext(r.t.Context(), "tcp", r.addr)
	if err == nil {
		r.t.Cleanup(func() { _ = conn.Close() })
		_ = conn.SetDeadline(time.Now().Add(patience))
	}
	return conn, err
}

func (r *rig) from(local string) net.Conn {
	r.t.Helper()
	conn, err := r.dialFrom(local)
	if err != nil {
		r.t.Fatal(err)
	}
	return conn
}

// answersNew is answers on a new connection, which may be closed before it is
// even made.
func (r *rig) answersNew(local string) bool {
	conn, err := r.dialFrom(local)
	return err == nil && r.answers(conn)
}

// answers reports whether a call on the connection is answered by 200.
func (r *rig) answers(conn net.Conn) bool {
	_, err := io.WriteString(conn, request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key))
	if err != nil {
		return false
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	return err == nil && resp.StatusCode == http.StatusOK
}

// comesIn tries new connections until one is answered.
func (r *rig) comesIn(what string, call func() bool) {
	r.t.Helper()
	testkit.Eventually(r.t, "a new connection is answered "+what, call)
}

func TestAdmission_maximum(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	r := newRig(
		t,
		func(http.ResponseWriter, *http.Request) { arrived <- struct{}{}; <-release },
		withLimits(gateway.Limits{
			Conns:        4,
			ConnsFromOne: 4,
		}),
	)
	busy := make(chan bool, 4)
	for range 4 {
		conn := r.from("127.0.0.1")
		go func() { busy <- r.answers(conn) }()
		within(t, "the call at the upstream", arrived)
	}
	for range 3 {
		if conn, err := r.dialFrom("127.0.0.1"); err == nil {
			if n, err := conn.Read(make([]byte, 1)); n != 0 || err == nil || isTimeout(err) {
				t.Errorf("one too many: %d bytes, %v; want it closed", n, err)
			}
		}
	}
	if n := strings.Count(r.log.String(), "connections refused"); n != 1 {
		t.Errorf("the log has %d lines of it, want 1", n)
	}
	close(release)
	for range 4 {
		if !within(t, "the end of a call", busy) {
			t.Error("a call under way was given up for one that came later")
		}
	}
	go func() {
		for range arrived {
		}
	}()
	defer close(arrived)
	r.comesIn("when calls have ended", func() bool { return r.answersNew("127.0.0.1") })
}

func isTimeout(err error) bool {
	timeout, ok := err.(net.Error) //nolint:errorlint // as the connection returns it
	return ok && timeout.Timeout()
}

func TestAdmission_oneAddress(t *testing.T) {
	r := newRig(t, nil, withLimits(gateway.Limits{Conns: 100, ConnsFromOne: 3}))
	var held []net.Conn
	for range 3 {
		conn := r.from("127.0.0.2")
		if !r.answers(conn) {
			t.Fatal("it is below the limit")
		}
		held = append(held, conn)
	}
	if r.answersNew("127.0.0.2") {
		t.Error("one too many from one address was taken")
	}
	if !r.answersNew("127.0.0.3") {
		t.Error("another address has to pay for it")
	}
	for _, conn := range held {
		if !r.answers(conn) {
			t.Error("a connection below the limit was ended")
		}
	}
	_ = held[0].Close()
	r.comesIn("when one has left", func() bool { return r.answersNew("127.0.0.2") })
}

// The connections of a trusted proxy are those of all its callers.
func TestAdmission_trustedProxy(t *testing.T) {
	r := newRig(t, nil, withLimits(gateway.Limits{Conns: 100, ConnsFromOne: 3}), trusting("127.0.0.2/32"))
	for range 10 {
		if !r.answersNew("127.0.0.2") {
			t.Fatal("the proxy was turned away")
		}
	}
}

// Idle connections are closed in favor of new ones.
func TestAdmission_idle(t *testing.T) {
	r := newRig(t, nil, withLimits(gateway.Limits{Conns: 32, ConnsFromOne: 32}))
	for range 32 {
		r.answersNew("127.0.0.2") // the last ones may find room that the first have to make
	}
	r.comesIn("past those who wait", func() bool { return r.answersNew("127.0.0.3") })
}

// A connection is counted out whichever way it ends.
func TestAdmission_closed(t *testing.T) {
	limits := withLimits(gateway.Limits{Conns: 3, ConnsFromOne: 3})
	plain, secured := newRig(t, nil, limits), newRig(t, nil, limits, overTLS(newPair(t)))
	hangUp := func(r *rig) bool {
		conn, err := net.Dial("tcp", r.addr)
		return err == nil && conn.Close() == nil
	}
	one := func(r *rig, line string) bool {
		conn, err := net.Dial("tcp", r.addr)
		if err != nil {
			return false
		}
		defer conn.Close()
		if r.secure != nil {
			conn = tls.Client(conn, r.secure)
		}
		_, err = io.WriteString(
			conn, request("GET", "/shop/1.0.0/prod", r.addr, "X-API-Key: "+r.key, line, "Connection: close"),
		)
		if err != nil {
			return false
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		return err == nil && resp.StatusCode == http.StatusOK
	}
	overHTTP2 := func() bool {
		client := secured.http2()
		defer client.CloseIdleConnections()
		req, _ := http.NewRequestWithContext(t.Context(), "GET", "https://shop.proxy.test/1.0.0/prod", nil)
		req.Header.Set("X-API-Key", secured.key)
		resp, err := client.Do(req)
		return err == nil && resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	}
	for name, call := range testkit.ByName(map[string]func() bool{
		"nothing said":         func() bool { return hangUp(plain) },
		"nothing said, TLS":    func() bool { return hangUp(secured) },
		"the engine":           func() bool { return one(plain, "X-A: b") },
		"net/http":             func() bool { return one(plain, "TE: trailers") },
		"the engine over TLS":  func() bool { return one(secured, "X-A: b") },
		"net/http over TLS":    func() bool { return one(secured, "TE: trailers") },
		"HTTP/2":               overHTTP2,
		"malformed":            func() bool { return !one(plain, "X A: b") },
		"malformed within TLS": func() bool { return !one(secured, "X A: b") },
	}) {
		for range 10 {
			plain.comesIn(name, call)
		}
	}
	plain.comesIn("at last", func() bool { return one(plain, "X-A: b") })
}

func trusting(networks ...string) rigOption {
	return func(_ *rig, o *gateway.Options) {
		for _, network := range networks {
			o.Trusted = append(o.Trusted, netip.MustParsePrefix(network))
		}
	}
}
