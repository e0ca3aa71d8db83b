package gateway_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// soon is a timeout that is reached, and never is one that isn't: it is longer than patience.
const (
	soon  = 50
	never = 3_600_000
)

func withTimeouts(t snapshot.UpstreamTimeouts) rigOption {
	return withProject(func(p *snapshot.Project) {
		for i := range p.Versions[0].Environments {
			p.Versions[0].Environments[i].Upstream.Timeouts = t
		}
	})
}

// allNever are timeouts that aren't reached, for those that edit doesn't set.
func allNever(edit func(*snapshot.UpstreamTimeouts)) rigOption {
	ms := never
	t := snapshot.UpstreamTimeouts{ConnectMS: &ms, ResponseMS: &ms, IdleMS: &ms, StreamIdleMS: &ms, ReuseIdleMS: &ms}
	edit(&t)
	return withTimeouts(t)
}

// paths are the ways that a call takes through the gateway, each with a client that uses it.
func paths(t *testing.T) map[string]func(http.HandlerFunc, ...rigOption) (*rig, *http.Client) {
	return map[string]func(http.HandlerFunc, ...rigOption) (*rig, *http.Client){
		"engine": func(h http.HandlerFunc, o ...rigOption) (*rig, *http.Client) {
			return newRig(t, h, o...), plainClient(t)
		},
		"net/http": func(h http.HandlerFunc, o ...rigOption) (*rig, *http.Client) {
			return newRig(t, h, append(o, onNetHTTP)...), plainClient(t)
		},
		"HTTP/2": func(h http.HandlerFunc, o ...rigOption) (*rig, *http.Client) {
			r := newRig(t, h, append(o, overTLS(newPair(t)))...)
			return r, r.http2()
		},
	}
}

func plainClient(t *testing.T) *http.Client {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// told calls the rig, and says what the caller got: the status, the body and whether it is complete.
func (r *rig) told(client *http.Client) string {
	r.t.Helper()
	scheme := "http"
	if r.secure != nil {
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(r.t.Context(), "GET", scheme+"://"+r.addr+"/1.0.0/prod", nil)
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
	body, err := io.ReadAll(resp.Body)
	end := "complete"
	if err != nil {
		end = "broken off"
	}
	return fmt.Sprintf("%d %s %s", resp.StatusCode, body, end)
}

// pausing sends a part, waits for more than soon unless the call ends before, and sends another part.
func pausing(contentType string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, "one")
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(6 * soon * time.Millisecond):
			_, _ = io.WriteString(w, "two")
		}
	}
}

func TestTimeouts_responses(t *testing.T) {
	stuck := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for _, tc := range []struct {
		name     string
		upstream http.HandlerFunc
		set      func(t *snapshot.UpstreamTimeouts, ms *int)
		want     string
	}{
		{
			"no response", stuck, func(t *snapshot.UpstreamTimeouts, ms *int) { t.ResponseMS = ms },
			`504 {"message":"The upstream did not respond in time","code":"upstream_timeout"} complete`,
		},
		{
			"a pause in a response", pausing("text/plain"),
			func(t *snapshot.UpstreamTimeouts, ms *int) { t.IdleMS = ms }, "200 one broken off",
		},
		{
			"a pause that only streams may not have", pausing("text/plain"),
			func(t *snapshot.UpstreamTimeouts, ms *int) { t.StreamIdleMS, t.ResponseMS = ms, ms },
			"200 onetwo complete",
		},
		{
			"a pause in an event stream", pausing("Text/Event-Stream; charset=utf-8"),
			func(t *snapshot.UpstreamTimeouts, ms *int) { t.StreamIdleMS = ms }, "200 one broken off",
		},
		{
			"a pause that only event streams may have", pausing("text/event-stream"),
			func(t *snapshot.UpstreamTimeouts, ms *int) { t.IdleMS = ms }, "200 onetwo complete",
		},
	} {
		for path, through := range testkit.ByName(paths(t)) {
			t.Run(tc.name+"/"+path, func(t *testing.T) {
				ms := soon
				r, client := through(tc.upstream, allNever(func(t *snapshot.UpstreamTimeouts) { tc.set(t, &ms) }))
				got := r.told(client)
				if strings.HasPrefix(tc.want, "504 ") {
					got, tc.want = got[:4]+codeIn(got), "504 upstream_timeout"
				}
				if got != tc.want {
					t.Errorf("the caller got %q, want %q", got, tc.want)
				}
			})
		}
	}
}

// codeIn is the code of a refusal.
func codeIn(body string) string {
	_, after, _ := strings.Cut(body, `"code":"`)
	code, _, _ := strings.Cut(after, `"`)
	return code
}

func TestTimeouts_reuse(t *testing.T) {
	for name, tc := range map[string]struct {
		keepAlive string
		want      int32
	}{
		"nothing announced":          {"", 1},
		"a long time announced":      {"timeout=3600, max=100", 1},
		"the end is near":            {"timeout=1", 2},
		"not an end":                 {"max=1", 1},
		"an end that isn't a number": {"timeout=soon", 1},
	} {
		for path, through := range testkit.ByName(paths(t)) {
			t.Run(name+"/"+path, func(t *testing.T) {
				var connections atomic.Int32
				target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
					connections.Add(1)
					for {
						if _, err := readHead(from); err != nil {
							return
						}
						_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n")
						if tc.keepAlive != "" {
							_, _ = io.WriteString(conn, "Keep-Alive: "+tc.keepAlive+"\r\n")
						}
						_, _ = io.WriteString(conn, "\r\nup")
					}
				})
				r, client := through(nil, withTarget(target), allNever(func(*snapshot.UpstreamTimeouts) {}))
				for range 2 {
					if got := r.told(client); got != "200 up complete" {
						t.Fatalf("the caller got %q", got)
					}
				}
				if n := connections.Load(); n != tc.want {
					t.Errorf("%d connections for two calls, want %d", n, tc.want)
				}
			})
		}
	}
}

// Environments of one project with other timeouts have connections of their own.
func TestTimeouts_ownConnections(t *testing.T) {
	r := newRig(t, func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/stuck") {
			<-r.Context().Done()
		}
	}, withMode(snapshot.Passthrough), withProject(func(p *snapshot.Project) {
		p.Versions[0].Environments[0].Upstream.Timeouts.ResponseMS = new(never)
		p.Versions[0].Environments[1].Upstream.Timeouts.ResponseMS = new(soon)
	}))
	for range 2 {
		if got := r.get("/shop/1.0.0/dev/a"); got.StatusCode != http.StatusOK {
			t.Errorf("dev answers %d", got.StatusCode)
		}
		r.wantCode("prod", r.get("/shop/1.0.0/prod/stuck"), 504, "upstream_timeout")
	}
}

const (
	closeToCaller   = "\x88\x02\x03\xe9"
	closeToUpstream = "\x88\x82\x00\x00\x00\x00\x03\xe9"
)

// A tunnel that is cut because it is silent gets a close frame (1001) in both directions, where one can be put.
func TestTunnel_silent(t *testing.T) {
	for name, tc := range map[string]struct {
		fromUpstream, fromCaller string
		wantCaller, wantUpstream string
	}{
		"nothing was sent": {"", "", closeToCaller, closeToUpstream},
		"after frames": {
			"\x81\x02hi", "\x81\x82abcdhi", "\x81\x02hi" + closeToCaller, "\x81\x82abcdhi" + closeToUpstream,
		},
		"within a frame": {"\x81\x04hi", "\x81", "\x81\x04hi", "\x81"},
		"after the last": {"\x88\x00", "\x88\x80abcd", "\x88\x00", "\x88\x80abcd"},
	} {
		for path, option := range map[string]rigOption{
			"TCP": func(*rig, *gateway.Options) {}, "all by net/http": onNetHTTP,
		} {
			t.Run(name+"/"+path, func(t *testing.T) {
				upstreamGot := make(chan string, 1)
				target := switching(t, make(chan string, 1), func(conn net.Conn, from *bufio.Reader) {
					_, _ = io.WriteString(conn, tc.fromUpstream)
					got, _ := io.ReadAll(from)
					upstreamGot <- string(got)
				})
				ms := 4 * soon
				r := newRig(t, nil, withTarget(target), option,
					allNever(func(t *snapshot.UpstreamTimeouts) { t.StreamIdleMS = &ms }))
				conn, from, _ := r.open()
				_, _ = io.WriteString(conn, tc.fromCaller)
				if got, _ := io.ReadAll(from); string(got) != tc.wantCaller {
					t.Errorf("the caller got %q, want %q", got, tc.wantCaller)
				}
				if got := within(t, "the end at the upstream", upstreamGot); got != tc.wantUpstream {
					t.Errorf("the upstream got %q, want %q", got, tc.wantUpstream)
				}
			})
		}
	}
}
