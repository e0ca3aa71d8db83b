package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"postern/tools/procfs"
)

// attack is something that goes wrong. begin returns when it is under way, with
// what ends it.
type attack struct {
	name    string
	begin   func(ctx context.Context) (end func(), err error)
	without bool // the gateway: what the machine itself has to bear, held to no bound

	most float64 // the highest factor, if it isn't that of the settings
}

// How many there are of each.
const (
	slowCallers  = 500
	stuckCalls   = 1000
	brokenCalls  = 16
	brokenPace   = 20 * time.Millisecond // of each of them, on average
	slowPace     = 100 * time.Millisecond
	addresses    = 8 // that idle connections come from: one may not have them all
	dialsAtATime = 64
)

func attacks(s settings, t *testbed, imports func(context.Context) (func(), error)) []attack {
	return []attack{
		{name: fmt.Sprintf("%d callers who send a header byte by byte", slowCallers), begin: t.slowloris},
		{name: fmt.Sprintf("%d calls at an upstream that is stuck", stuckCalls), begin: t.hang},
		{name: "an upstream that dies in every answer", begin: t.breakOff(t.gateway)},
		{name: "the same calls, past the gateway", begin: t.breakOff(t.dying), without: true},
		{
			name:  fmt.Sprintf("%d idle connections", s.idle),
			begin: func(ctx context.Context) (func(), error) { return t.hold(ctx, s.idle) },
		},
		{name: "an import of API keys", begin: imports, most: importFactor},
	}
}

// crowd is n connections, each with something that is done on it until the end.
func (t *testbed) crowd(
	ctx context.Context, n int, first func(net.Conn) error, then func(context.Context, net.Conn),
) (end func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var mu sync.Mutex
	var failed error
	var running, begun sync.WaitGroup
	gate := make(chan struct{}, dialsAtATime)
	for i := range n {
		begun.Add(1)
		running.Go(func() {
			gate <- struct{}{}
			conn, err := t.dial(ctx, fmt.Sprintf("127.0.0.%d", 2+i%addresses))
			if err == nil {
				defer func() { _ = conn.Close() }()
				err = first(conn)
			}
			<-gate
			if err != nil {
				mu.Lock()
				failed = errors.Join(failed, err)
				mu.Unlock()
			}
			begun.Done()
			if err == nil {
				then(ctx, conn)
			}
		})
	}
	begun.Wait()
	end = func() { cancel(); running.Wait() }
	if failed != nil {
		end()
		return nil, failed
	}
	return end, nil
}

func wait(ctx context.Context, _ net.Conn) { <-ctx.Done() }

// slowloris begins requests and never ends them. Callers that are cut off come back.
func (t *testbed) slowloris(ctx context.Context) (func(), error) {
	begin := func(conn net.Conn) error {
		_, err := io.WriteString(conn, "GET "+t.healthy+"/a HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
		return err
	}
	return t.crowd(ctx, slowCallers, begin, func(ctx context.Context, conn net.Conn) {
		for tick := time.NewTicker(slowPace); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-tick.C:
				if _, err := io.WriteString(conn, "x"); err == nil {
					continue
				}
				if again, err := t.dial(ctx, "127.0.0.2"); err == nil {
					defer func() { _ = again.Close() }()
					conn = again
					_ = begin(conn)
				}
			}
		}
	})
}

// hang makes calls that get no answer.
func (t *testbed) hang(ctx context.Context) (func(), error) {
	return t.crowd(ctx, stuckCalls, func(conn net.Conn) error {
		_, err := io.WriteString(conn, request(t.stuck))
		return err
	}, wait)
}

// breakOff makes calls whose answers end in the middle, and the connection with them. The callers know nothing of each
// other: in step they would queue up behind each other.
func (t *testbed) breakOff(addr string) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		first := func(net.Conn) error { return t.callDying(ctx, addr) }
		return t.crowd(ctx, brokenCalls, first, func(ctx context.Context, _ net.Conn) {
			for next := time.Now(); ; {
				next = next.Add(rand.N(2 * brokenPace))
				select {
				case <-ctx.Done():
					return
				case <-time.After(time.Until(next)):
				}
				if err := t.callDying(ctx, addr); err != nil && ctx.Err() == nil {
					t.spoil(err)
				}
			}
		})
	}
}

// callDying calls the upstream that dies and reads what there is, at no more cost
// than that. An answer that does not begin and break off is an error.
func (t *testbed) callDying(ctx context.Context, addr string) error {
	conn, err := (&net.Dialer{Timeout: patience}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", addr, err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, request(t.broken)); err != nil {
		return fmt.Errorf("call %s: %w", t.broken, err)
	}
	got, err := io.ReadAll(conn)
	if isTimeout(err) {
		return fmt.Errorf("%s neither ends nor breaks off: %w", t.broken, err)
	}
	if !bytes.HasPrefix(got, []byte("HTTP/1.1 200 ")) || !bytes.HasSuffix(got, []byte("\r\n\r\n"+halfBody)) {
		return fmt.Errorf("%s does not break off after half of its answer: %.100q", t.broken, got)
	}
	return nil
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// hold makes connections that have been of use once and then wait.
func (t *testbed) hold(ctx context.Context, n int) (func(), error) {
	return t.crowd(ctx, n, func(conn net.Conn) error { return ask(conn, bufio.NewReader(conn), t.healthy) }, wait)
}

// measureIdle says what a connection that waits costs the server.
func measureIdle(ctx context.Context, s settings, t *testbed, server *server) error {
	const settling = 2 * time.Second // for the garbage collector to have passed
	if _, err := t.callHealthy(ctx, settling); err != nil {
		return err
	}
	before, err := procfs.Resident(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	end, err := t.hold(ctx, s.idle)
	if err != nil {
		return err
	}
	defer end()
	time.Sleep(settling)
	after, err := procfs.Resident(server.cmd.Process.Pid)
	if err != nil {
		return err
	}
	fmt.Printf(
		"%-44s %9.1f MB for %d, %.1f KiB each\n", "memory of idle connections", after/1e6, s.idle,
		(after-before)/float64(s.idle)/1024,
	)
	return nil
}
