package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"postern/core/contract"
)

// The calls that look for a race: the gateway sends a call on a connection that the server is closing because it was
// idle for too long. Each environment has its own connections to the server. Its callers call at the same time, pause,
// and call again, so that after each pause the gateway has as many idle connections of one age.
const (
	reuseConnections = 200
	reuseGroups      = 10 // environments, which share out the pauses
	pauseStep        = 20 * time.Millisecond
	longestPause     = 6 * time.Second
	shorterPause     = 3 * time.Second // for a server that closes connections after less than this
)

var (
	allMethods    = []string{"GET", "POST", "PUT", "DELETE", "PATCH"}
	repeatMethods = []string{"GET", "PUT", "DELETE"} // that are sent again, see docs/upstreams.md
)

// tally counts the answers of one setting.
type tally struct {
	mu    sync.Mutex
	calls map[string]int // by method
	wrong map[string]int // that aren't the server's own answers
	first string         // the first wrong one
}

func (t *tally) add(method, wrong string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls[method]++
	if wrong != "" {
		t.wrong[method]++
		if t.first == "" {
			t.first = wrong
		}
	}
}

// of returns how many calls by some methods there were, and how many answers were wrong.
func (t *tally) of(methods []string) (calls, wrong int) {
	for _, method := range methods {
		calls, wrong = calls+t.calls[method], wrong+t.wrong[method]
	}
	return calls, wrong
}

// compareReuse calls each of the servers, behind a relay, with a time of reuse that suits the server and with one that
// is too long. It fails if a caller gets an error that another try or a shorter time of reuse would have avoided.
func compareReuse(ctx context.Context, dir string, s *server, only string) error {
	fmt.Printf(
		"\n%-44s %8s %22s %22s\n", "reuse of connections, 60 ms away", "calls", "wrong, time suits", "wrong, too long",
	)
	var beyond []error
	for _, one := range realServers {
		if !strings.Contains(strings.ToLower(one.name), strings.ToLower(only)) {
			continue
		}
		if err := one.compareReuse(ctx, dir, s); err != nil {
			beyond = append(beyond, fmt.Errorf("%s: %w", one.name, err))
		}
	}
	return errors.Join(beyond...)
}

func (r realServer) compareReuse(ctx context.Context, dir string, s *server) error {
	name := strings.ToLower(strings.ReplaceAll(r.name, ".", ""))
	server, err := r.start(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	defer server.stop()
	var targets []string // environments with the same target share connections
	for range reuseGroups {
		far, err := startRelay(server.addr)
		if err != nil {
			return err
		}
		defer far.stop()
		targets = append(targets, "http://"+far.addr())
	}
	answers, err := answersOf(ctx, server.addr)
	if err != nil {
		return err
	}
	tooLong := r.closes + 30*time.Second
	var suits, long tally
	var runs sync.WaitGroup
	var failed [2]error
	for i, run := range []struct {
		to    *tally
		name  string
		reuse time.Duration
	}{{&suits, name, r.reuse}, {&long, name + "-long", tooLong}} {
		run.to.calls, run.to.wrong = map[string]int{}, map[string]int{}
		paths, err := s.createGroups(ctx, run.name, targets, run.reuse)
		if err != nil {
			return err
		}
		runs.Go(func() { failed[i] = r.callInGroups(ctx, s.gateway, paths, answers, run.to) })
	}
	runs.Wait()
	if err := firstOf(failed[:]); err != nil {
		return err
	}
	calls, wrong := suits.of(allMethods)
	_, repeated := long.of(repeatMethods)
	_, others := long.of([]string{"POST", "PATCH"})
	fmt.Printf("%-44s %8d %22d %22s\n", r.name, calls, wrong, fmt.Sprintf("%d, and %d POST, PATCH", repeated, others))
	if wrong > 0 {
		return fmt.Errorf("%d of %d calls got a wrong answer, the first one %s", wrong, calls, suits.first)
	}
	if repeated > 0 {
		return fmt.Errorf("%d calls that can be repeated got a wrong answer, the first one %s", repeated, long.first)
	}
	return nil
}

// answersOf asks the server itself for its status for each method.
func answersOf(ctx context.Context, addr string) (map[string]int, error) {
	out := map[string]int{}
	for _, method := range allMethods {
		req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+"/orders", nil)
		if err != nil {
			return nil, fmt.Errorf("%s /orders: %w", method, err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, fmt.Errorf("%s /orders: %w", method, err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode >= http.StatusInternalServerError {
			return nil, fmt.Errorf("%s /orders: %s", method, resp.Status)
		}
		out[method] = resp.StatusCode
	}
	return out, nil
}

// createGroups creates a project with an environment for each target, and returns their paths at the gateway.
func (s *server) createGroups(
	ctx context.Context, name string, targets []string, reuse time.Duration,
) ([]string, error) {
	body := contract.NewProxy{Name: name, Environments: map[string]contract.EnvironmentTarget{}}
	for i, target := range targets {
		one := contract.EnvironmentTarget{Target: target}
		if reuse != 0 {
			one.Upstream.Timeouts.ReuseIdleMS = new(int(reuse.Milliseconds()))
		}
		body.Environments[fmt.Sprintf("group-%d", i)] = one
	}
	return s.create(ctx, body)
}

// callInGroups makes the calls of all connections.
func (r realServer) callInGroups(
	ctx context.Context, gateway string, paths []string, answers map[string]int, to *tally,
) error {
	longest := longestPause
	if r.closes < shorterPause {
		longest = shorterPause
	}
	var groups sync.WaitGroup
	failed := make([]error, len(paths))
	for i, path := range paths {
		var pauses []time.Duration
		for pause := time.Duration(i) * pauseStep; pause <= longest; pause += reuseGroups * pauseStep {
			pauses = append(pauses, pause)
		}
		// In order, the longer pauses would meet connections that are too old to be reused.
		rand.New(rand.NewPCG(1, uint64(i))).Shuffle(len(pauses), func(a, b int) {
			pauses[a], pauses[b] = pauses[b], pauses[a]
		})
		groups.Go(func() { failed[i] = callAndPause(ctx, gateway, path, pauses, answers, to) })
	}
	groups.Wait()
	return firstOf(failed)
}

// firstOf returns the first error: the others are of the same kind.
func firstOf(failed []error) error {
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// callAndPause makes the calls of one group: all at the same time, then again after each pause.
func callAndPause(
	ctx context.Context, gateway, path string, pauses []time.Duration, answers map[string]int, to *tally,
) error {
	t := &testbed{gateway: gateway}
	callers := make([]*caller, reuseConnections/reuseGroups)
	for i := range callers {
		conn, err := t.dial(ctx, "")
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		callers[i] = &caller{conn, bufio.NewReader(conn), allMethods[i%len(allMethods)]}
	}
	for _, pause := range append([]time.Duration{0}, pauses...) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		var all sync.WaitGroup
		failed := make([]error, len(callers))
		for i, c := range callers {
			all.Go(func() {
				var status int
				var text string
				if status, text, failed[i] = c.call(path + "/orders"); failed[i] != nil {
					return
				}
				wrong := ""
				if status != answers[c.method] {
					wrong = fmt.Sprintf("by %s after a pause of %s: %d %s", c.method, pause, status, text)
				}
				to.add(c.method, wrong)
			})
		}
		all.Wait()
		if err := firstOf(failed); err != nil {
			return err
		}
		// The next burst finds a connection for each caller: it isn't the same one's.
		slices.Reverse(callers)
	}
	return nil
}

// caller is a connection to the gateway, on which calls by one method are made.
type caller struct {
	conn   net.Conn
	from   *bufio.Reader
	method string
}

// call sends one call and returns the status and the start of the body.
func (c *caller) call(path string) (status int, text string, err error) {
	head := c.method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n"
	if c.method != http.MethodGet && c.method != http.MethodDelete {
		head += "Content-Length: 2\r\n\r\n{}"
	} else {
		head += "\r\n"
	}
	_ = c.conn.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c.conn, head); err != nil {
		return 0, "", fmt.Errorf("call %s: %w", path, err)
	}
	resp, err := http.ReadResponse(c.from, nil) //nolint:bodyclose // it is read to its end below
	if err != nil {
		return 0, "", fmt.Errorf("read the answer of %s: %w", path, err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, "", fmt.Errorf("read the answer of %s: %w", path, err)
	}
	return resp.StatusCode, string(body[:min(len(body), 200)]), nil
}
