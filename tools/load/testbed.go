package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// testbed holds the projects behind the gateway: one with a healthy upstream, and two whose
// upstreams fail.
type testbed struct {
	gateway                string // host:port
	healthy, stuck, broken string // paths of their environments
	dying                  string // host:port of the broken one's upstream
	upstreams              []net.Listener
	release                chan struct{} // ends the calls at the stuck upstream

	mu      sync.Mutex
	spoiled error // the first of an attack that did not do what it should
}

func newTestbed(ctx context.Context, s *server) (*testbed, error) {
	t := &testbed{gateway: s.gateway, release: make(chan struct{})}
	body := strings.Repeat("x", 1024)
	healthy := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
	stuck := func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-t.release:
		}
	}
	for _, p := range []struct {
		name  string
		path  *string
		serve func(net.Listener)
	}{
		{"healthy", &t.healthy, func(l net.Listener) { _ = http.Serve(l, http.HandlerFunc(healthy)) }},
		{"stuck", &t.stuck, func(l net.Listener) { _ = http.Serve(l, http.HandlerFunc(stuck)) }},
		{"broken", &t.broken, dieInEveryAnswer},
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("listen for the upstream %s: %w", p.name, err)
		}
		t.upstreams = append(t.upstreams, l)
		go p.serve(l)
		if *p.path, err = s.createProject(ctx, p.name, "http://"+l.Addr().String()); err != nil {
			return nil, err
		}
	}
	t.dying = t.upstreams[len(t.upstreams)-1].Addr().String()
	return t, nil
}

// halfBody is what the upstream that dies gets out.
var halfBody = strings.Repeat("x", 512)

// dieInEveryAnswer answers with half of what it promises, and hangs up. It does
// nothing that costs more, because it takes its time from the gateway.
func dieInEveryAnswer(l net.Listener) {
	half := []byte("HTTP/1.1 200 OK\r\nContent-Length: 1024\r\n\r\n" + halfBody)
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = conn.Close() }()
			if _, err := conn.Read(make([]byte, 4<<10)); err == nil {
				_, _ = conn.Write(half)
			}
		}()
	}
}

// spoil says that an attack does not do what it should: what was measured is worth
// nothing.
func (t *testbed) spoil(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spoiled = cmp.Or(t.spoiled, err)
}

func (t *testbed) wasSpoiled() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.spoiled
}

func (t *testbed) close() {
	close(t.release)
	for _, l := range t.upstreams {
		_ = l.Close()
	}
}

// The healthy project's callers: few enough to leave the processors idle most of
// the time, so that what is measured is waiting and not the machine's size.
const (
	callers  = 8
	callGap  = 8 * time.Millisecond
	patience = 10 * time.Second
)

// callHealthy calls at an even pace and returns the 99th percentile. An answer
// that is not 200 is an error.
func (t *testbed) callHealthy(ctx context.Context, length time.Duration) (time.Duration, error) {
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	var running sync.WaitGroup
	until := time.Now().Add(length)
	for range callers {
		running.Go(func() {
			took, err := t.callUntil(ctx, until)
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, took...), errors.Join(failed, err)
		})
	}
	running.Wait()
	if failed != nil || len(all) == 0 {
		return 0, errors.Join(failed, ctx.Err())
	}
	slices.Sort(all)
	return all[len(all)*99/100], nil
}

func (t *testbed) callUntil(ctx context.Context, until time.Time) ([]time.Duration, error) {
	conn, err := t.dial(ctx, "")
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	from := bufio.NewReader(conn)
	var out []time.Duration
	for next := time.Now(); next.Before(until) && ctx.Err() == nil; next = next.Add(callGap) {
		time.Sleep(time.Until(next))
		began := time.Now()
		if err := ask(conn, from, t.healthy); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
	}
	return out, nil
}

// dial connects from an address of this machine, or from whichever the kernel
// takes: to bind one for each of many short connections would be extra work.
func (t *testbed) dial(ctx context.Context, from string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: patience}
	if from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(from)}
	}
	conn, err := dialer.DialContext(ctx, "tcp", t.gateway)
	if err != nil {
		return nil, fmt.Errorf("connect to the gateway: %w", err)
	}
	return conn, nil
}

// request is a call of the path.
func request(path string) string { return "GET " + path + "/a HTTP/1.1\r\nHost: localhost\r\n\r\n" }

// ask sends one call and reads its answer.
func ask(conn net.Conn, from *bufio.Reader, path string) error {
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request(path)); err != nil {
		return fmt.Errorf("call %s: %w", path, err)
	}
	resp, err := http.ReadResponse(from, nil) //nolint:bodyclose // it is read to its end below
	if err != nil {
		return fmt.Errorf("read the answer of %s: %w", path, err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return fmt.Errorf("read the answer of %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", path, resp.Status)
	}
	return nil
}
