package gateway_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

func withRetries(most int, on ...snapshot.RetryCondition) rigOption {
	return withProject(func(p *snapshot.Project) {
		for i := range p.Versions[0].Environments {
			p.Versions[0].Environments[i].Upstream.Retries = snapshot.UpstreamRetries{Max: &most, On: &on}
		}
	})
}

// fickle is an upstream that does something else with each call. Steps are what it does, in order; the last one is for
// all further calls.
type fickle struct {
	steps []string

	mu    sync.Mutex
	got   []string // the calls: the method and the body
	heads []http.Header
}

func (f *fickle) start(t *testing.T) rigOption { return withTarget(rawUpstream(t, f.serve)) }

func (f *fickle) serve(conn net.Conn, from *bufio.Reader) {
	for f.answer(conn, from) {
	}
}

// answer serves a call, and reports whether the connection stays open.
func (f *fickle) answer(conn net.Conn, from *bufio.Reader) bool {
	r, err := http.ReadRequest(from)
	if err != nil {
		return false
	}
	body, err := io.ReadAll(r.Body)
	f.mu.Lock()
	step := f.steps[min(len(f.got), len(f.steps)-1)]
	text := string(body)
	if len(text) > 100 {
		text = fmt.Sprintf("%d bytes", len(text))
	}
	f.got = append(f.got, strings.TrimSpace(r.Method+" "+text))
	f.heads = append(f.heads, r.Header)
	f.mu.Unlock()
	if err != nil {
		return false
	}
	switch step {
	case "silence":
		_, _ = from.ReadByte() // until the gateway closes the connection
		return false
	case "end":
		return false
	case "103 end":
		_, _ = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n")
		return false
	case "part":
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-")
		return false
	case "100 503":
		_, _ = io.WriteString(conn, "HTTP/1.1 100 Continue\r\n\r\n")
		step = "503"
	case "103 503":
		_, _ = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n")
		step = "503"
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s X\r\nContent-Length: 2\r\nX-Number: %d\r\n\r\n", step, f.calls())
	if r.Method != http.MethodHead {
		_, _ = io.WriteString(conn, "up")
	}
	return true
}

func (f *fickle) calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.got)
}

// headers returns those of the calls so far.
func (f *fickle) headers() []http.Header {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.heads)
}

// seen returns the calls so far.
func (f *fickle) seen() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got)
}

// sent sends one call and says what the caller got, without a body: 200 with its number, or the code of a refusal.
func (r *rig) sent(client *http.Client, method string, body io.Reader) string {
	r.t.Helper()
	scheme := "http"
	if r.secure != nil {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, scheme+"://"+r.addr+"/1.0.0/prod", body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Host = "shop.proxy.test"
	req.Header.Set("X-Api-Key", r.key)
	resp, err := client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("X-Number"), codeIn(string(text))))
}

type unsized struct{ io.Reader } // net/http doesn't know its length

const unreachable, late = "502 upstream_unreachable", "504 upstream_timeout"

func TestRetries(t *testing.T) {
	small, largest := "hello", strings.Repeat("x", 64<<10)
	tooLarge := largest + "x"
	for name, tc := range map[string]struct {
		steps   string
		method  string
		body    string
		chunked bool
		retries rigOption
		want    string
		calls   int
	}{
		"GET":                  {"end,200", "GET", "", false, nil, "200 2", 2},
		"HEAD":                 {"end,200", "HEAD", "", false, nil, "200 2", 2},
		"OPTIONS":              {"end,200", "OPTIONS", "", false, nil, "200 2", 2},
		"PUT":                  {"end,200", "PUT", small, false, nil, "200 2", 2},
		"DELETE":               {"end,200", "DELETE", "", false, nil, "200 2", 2},
		"a chunked body":       {"end,200", "PUT", small, true, nil, "200 2", 2},
		"GET with a body":      {"end,200", "GET", small, false, nil, "200 2", 2},
		"the largest body":     {"end,200", "PUT", largest, false, nil, "200 2", 2},
		"the largest in parts": {"end,200", "PUT", largest, true, nil, "200 2", 2},
		"a larger body":        {"end,200", "PUT", tooLarge, false, nil, unreachable, 1},
		"larger in parts":      {"end,200", "PUT", tooLarge, true, nil, unreachable, 1},
		"POST":                 {"end,200", "POST", small, false, nil, unreachable, 1},
		"POST without a body":  {"end,200", "POST", "", false, nil, unreachable, 1},
		"PATCH":                {"end,200", "PATCH", small, false, nil, unreachable, 1},
		"PROPFIND":             {"end,200", "PROPFIND", "", false, nil, unreachable, 1},
		"only once":            {"end,end,200", "GET", "", false, nil, unreachable, 2},
		"never":                {"end,200", "GET", "", false, withRetries(0), unreachable, 1},
		"never a PUT":          {"end,200", "PUT", small, false, withRetries(0), unreachable, 1},
		"ten times": {
			strings.Repeat("end,", 10) + "200", "PUT", small, false, withRetries(10), "200 11", 11,
		},

		"a part of a response": {"part,200", "GET", "", false, nil, unreachable, 1},
		"an interim response":  {"103 end,200", "GET", "", false, nil, unreachable, 1},

		"a status by default": {"503,200", "GET", "", false, nil, "503 1", 1},
		"another status":      {"502,200", "GET", "", false, withRetries(1, "503"), "502 1", 1},
		"a status":            {"503,200", "GET", "", false, withRetries(1, "503"), "200 2", 2},
		"each of several": {
			"502,503,504,200", "PUT", small, false, withRetries(3, "502", "503", "504"), "200 4", 4,
		},
		"the last is passed on":      {"503,503,200", "GET", "", false, withRetries(1, "503"), "503 2", 2},
		"a status for POST":          {"503,200", "POST", small, false, withRetries(3, "503"), "503 1", 1},
		"a status for a large body":  {"503,200", "PUT", tooLarge, false, withRetries(3, "503"), "503 1", 1},
		"a status, but no retries":   {"503,200", "GET", "", false, withRetries(0, "503"), "503 1", 1},
		"a status after an interim":  {"103 503,200", "GET", "", false, withRetries(1, "503"), "503 1", 1},
		"a status after a 100":       {"100 503,200", "GET", "", false, withRetries(1, "503"), "200 2", 2},
		"a status, and then the end": {"503,end,200", "GET", "", false, withRetries(2, "503"), "200 3", 3},
		"the end is the last":        {"503,end", "GET", "", false, withRetries(1, "503"), unreachable, 2},

		"no response by default":    {"silence,200", "GET", "", false, nil, late, 1},
		"no response, and a status": {"silence,200", "GET", "", false, withRetries(1, "504"), late, 1},
		"no response":               {"silence,200", "GET", "", false, withRetries(1, "timeout"), "200 2", 2},
		"no response to a PUT":      {"silence,200", "PUT", small, false, withRetries(1, "timeout"), "200 2", 2},
		"no response to a POST":     {"silence,200", "POST", small, false, withRetries(1, "timeout"), late, 1},
		"no response at all":        {"silence", "GET", "", false, withRetries(2, "timeout"), late, 3},
	} {
		for path, through := range testkit.ByName(paths(t)) {
			t.Run(name+"/"+path, func(t *testing.T) {
				up := &fickle{steps: strings.Split(tc.steps, ",")}
				ms := soon
				if !strings.Contains(tc.steps, "silence") {
					ms = never
				}
				options := []rigOption{
					up.start(t), allNever(func(t *snapshot.UpstreamTimeouts) { t.ResponseMS = &ms }),
				}
				if tc.retries != nil {
					options = append(options, tc.retries)
				}
				r, client := through(nil, options...)
				var body io.Reader = strings.NewReader(tc.body)
				if tc.chunked {
					body = unsized{body}
				}
				if got := r.sent(client, tc.method, body); got != tc.want {
					t.Errorf("the caller got %s, want %s", got, tc.want)
				}
				if n := up.calls(); n != tc.calls {
					t.Errorf("the upstream got %d calls, want %d", n, tc.calls)
				}
				calls := up.seen()
				for _, got := range calls {
					if got != calls[0] {
						t.Errorf("the upstream got %q, and then %q", calls[0], got)
					}
				}
				testkit.Eventually(t, "memory to be free", func() bool { return r.gateway.HeldBodies() == 0 })
			})
		}
	}
}

// A call on a connection that was idle is sent again on a new one, because other idle ones may be as old.
func TestRetries_idleConnections(t *testing.T) {
	for path, through := range testkit.ByName(paths(t)) {
		t.Run(path, func(t *testing.T) {
			var mu sync.Mutex
			var connections, calls int
			ready := make(chan struct{})
			target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
				mu.Lock()
				connections++
				mu.Unlock()
				for n := 0; ; n++ {
					if _, err := http.ReadRequest(from); err != nil {
						return
					}
					mu.Lock()
					calls++
					first := calls <= 2
					if calls == 2 {
						close(ready)
					}
					mu.Unlock()
					if n > 0 {
						return // it hangs up on the second call of a connection
					}
					if first {
						<-ready // so that there are two connections
					}
					_, _ = io.WriteString(conn, anOK)
				}
			})
			r, client := through(nil, withTarget(target), allNever(func(*snapshot.UpstreamTimeouts) {}))
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					if got := r.sent(client, "GET", nil); got != "200" {
						t.Errorf("a first call got %s", got)
					}
				})
			}
			both.Wait()
			if got := r.sent(client, "PUT", strings.NewReader("x")); got != "200" {
				t.Errorf("the caller got %s", got)
			}
			if connections != 3 || calls != 4 {
				t.Errorf("%d connections for %d calls, want 3 for 4", connections, calls)
			}
		})
	}
}

const anOK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup"

// failingFirst is a dial that fails the first times.
func failingFirst(times int, dials *int) rigOption {
	return func(_ *rig, o *gateway.Options) {
		dial := o.Dial
		var mu sync.Mutex
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			mu.Lock()
			*dials++
			fails := *dials <= times
			mu.Unlock()
			if fails {
				return nil, errors.New("refused")
			}
			return dial(ctx, network, address)
		}
	}
}

// A call of any method is sent again if nothing of it was sent.
func TestRetries_connect(t *testing.T) {
	large := strings.Repeat("x", 200<<10)
	for name, tc := range map[string]struct {
		method, body string
		fails        int
		retries      int
		want         string
		dials        int
	}{
		"GET":               {"GET", "", 1, 1, "200 1", 2},
		"POST":              {"POST", "hello", 1, 1, "200 1", 2},
		"a large body":      {"POST", large, 3, 3, "200 1", 4},
		"too often":         {"POST", "hello", 2, 1, unreachable, 2},
		"without a retry":   {"POST", "hello", 1, 0, unreachable, 1},
		"then the upstream": {"PUT", "hello", 1, 1, "200 1", 2},
	} {
		for path, through := range testkit.ByName(paths(t)) {
			t.Run(name+"/"+path, func(t *testing.T) {
				up, dials := &fickle{steps: []string{"200"}}, 0
				r, client := through(nil, up.start(t), withRetries(tc.retries), failingFirst(tc.fails, &dials))
				if got := r.sent(client, tc.method, strings.NewReader(tc.body)); got != tc.want {
					t.Errorf("the caller got %s, want %s", got, tc.want)
				}
				if dials != tc.dials {
					t.Errorf("%d connections were tried, want %d", dials, tc.dials)
				}
				want := strings.TrimSpace(tc.method + " " + tc.body)
				if len(tc.body) > 100 {
					want = fmt.Sprintf("%s %d bytes", tc.method, len(tc.body))
				}
				if strings.HasPrefix(tc.want, "200") && (up.calls() != 1 || up.seen()[0] != want) {
					t.Errorf("the upstream got %q", up.seen())
				}
			})
		}
	}
}

// An address that isn't allowed isn't tried again, and a failed connection is one of the tries.
func TestRetries_connectCounts(t *testing.T) {
	up, dials := &fickle{steps: []string{"end", "200"}}, 0
	r := newRig(t, nil, up.start(t), withRetries(1), failingFirst(1, &dials))
	r.wantCode("a connection and a call fail", r.get("/shop/1.0.0/prod"), 502, "upstream_unreachable")
	if n := up.calls(); n != 1 || dials != 2 {
		t.Errorf("%d calls over %d connections", n, dials)
	}
}

// Without memory for its body a call is served, and isn't sent again.
func TestRetries_memory(t *testing.T) {
	body := strings.Repeat("x", 20<<10)
	for path, through := range testkit.ByName(paths(t)) {
		for budget, want := range map[int64]string{64 << 10: "200 2", 10 << 10: unreachable} {
			t.Run(fmt.Sprint(path, "/", budget), func(t *testing.T) {
				up := &fickle{steps: []string{"end", "200"}}
				r, client := through(nil, up.start(t), func(_ *rig, o *gateway.Options) {
					o.Limits.Bodies, o.Limits.BodiesOfOne = budget, budget
				})
				if got := r.sent(client, "PUT", strings.NewReader(body)); got != want {
					t.Errorf("the caller got %s, want %s", got, want)
				}
				if up.seen()[0] != "PUT 20480 bytes" {
					t.Errorf("the upstream got %s", up.seen()[0])
				}
			})
		}
	}
}

// A body is passed on as it comes, and the rest of it follows when the call is sent again in the middle.
func TestRetries_slowBody(t *testing.T) {
	for path, through := range testkit.ByName(paths(t)) {
		t.Run(path, func(t *testing.T) {
			ended, bodies := make(chan struct{}), make(chan string, 1)
			var mu sync.Mutex
			n := 0
			target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
				mu.Lock()
				n++
				first := n == 1
				mu.Unlock()
				r, err := http.ReadRequest(from)
				if err != nil {
					return
				}
				if first {
					_, _ = io.ReadFull(r.Body, make([]byte, 3))
					_ = conn.Close()
					close(ended)
					return
				}
				body, _ := io.ReadAll(r.Body)
				bodies <- string(body)
				_, _ = io.WriteString(conn, anOK)
			})
			r, client := through(nil, withTarget(target), allNever(func(*snapshot.UpstreamTimeouts) {}))
			reader, writer := io.Pipe()
			go func() {
				_, _ = io.WriteString(writer, "one")
				<-ended
				_, _ = io.WriteString(writer, "two")
				_, _ = io.WriteString(writer, "six")
				_ = writer.Close()
			}()
			if got := r.sentKnown(client, reader, 9); got != "200" {
				t.Errorf("the caller got %s", got)
			}
			if got := within(t, "the whole body", bodies); got != "onetwosix" {
				t.Errorf("the upstream got %q", got)
			}
		})
	}
}

// sentKnown puts a body of a known length.
func (r *rig) sentKnown(client *http.Client, body io.Reader, length int64) string {
	return r.sent(&http.Client{Transport: knownLength{client.Transport, length}, Timeout: patience}, "PUT", body)
}

type knownLength struct {
	http.RoundTripper
	length int64
}

func (k knownLength) RoundTrip(r *http.Request) (*http.Response, error) {
	r.ContentLength = k.length
	return k.RoundTripper.RoundTrip(r)
}
