package gateway_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// lasting is a rig whose upstream's responses go on until the gateway ends them.
type lasting struct {
	*rig
	key, old string // the caller's key, and one that was rotated
	left     chan struct{}
	pieces   atomic.Int64 // of large responses that were written
	later    atomic.Int64 // nanoseconds that the gateway's clock is ahead
}

var graceEnds = time.Now().Add(time.Hour)

func newLasting(t *testing.T, options ...rigOption) *lasting {
	l := &lasting{left: make(chan struct{}, 16)}
	clock := func(_ *rig, o *gateway.Options) {
		o.Clock = func() time.Time { return time.Now().Add(time.Duration(l.later.Load())) }
	}
	l.rig = newRig(t, func(w http.ResponseWriter, r *http.Request) {
		defer func() { l.left <- struct{}{} }()
		switch {
		case strings.HasSuffix(r.URL.Path, "/silent"):
			<-r.Context().Done()
		case r.Method == http.MethodPost:
			_, _ = io.Copy(io.Discard, r.Body)
		case strings.HasSuffix(r.URL.Path, "/large"):
			for piece := make([]byte, 64<<10); ; {
				if _, err := w.Write(piece); err != nil {
					return
				}
				l.pieces.Add(1)
			}
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, "data: x\n\n")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(10 * time.Millisecond):
				}
			}
		}
	}, append([]rigOption{clock, withHosted()}, options...)...)
	own := snapshot.Key{ID: "key_caller", Owner: "usr_ben", ExpiresAt: time.Now().Add(2 * time.Hour)}
	l.key = l.mint("prod", own)
	l.old = l.mint("prod", snapshot.Key{ID: "key_other", State: snapshot.KeyRevoked})
	l.keys.putOld(l.old, snapshot.Key{
		ID:          "key_old",
		ProjectID:   l.project.ID,
		Owner:       "app",
		TenantID:    "tnt_1",
		State:       snapshot.KeyActive,
		GraceEndsAt: graceEnds,
	})
	l.keys.drop(l.old)
	return l
}

// change publishes an edited copy of the project.
func (l *lasting) change(edit func(*snapshot.Project)) {
	next := *l.project
	next.Versions = append([]snapshot.Version(nil), next.Versions...)
	next.Versions[0].Environments = append([]snapshot.Environment(nil), next.Versions[0].Environments...)
	edit(&next)
	l.project = &next
	if err := l.gateway.Publish([]*snapshot.Project{l.project}); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lasting) state(state snapshot.KeyState) {
	l.keys.put(l.key, snapshot.Key{
		ID:        "key_caller",
		ProjectID: l.project.ID,
		Owner:     "usr_ben",
		TenantID:  "tnt_1",
		State:     state,
	})
}

// stream begins a call by HTTP/1.1 and returns the response, whose body goes on.
func (l *lasting) stream(method, path string, lines ...string) *http.Response {
	l.t.Helper()
	conn := l.dial()
	l.t.Cleanup(func() { _ = conn.Close() })
	_, _ = io.WriteString(conn, request(method, "/1.0.0/prod"+path, "shop.proxy.test", lines...))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		l.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		l.t.Fatalf("the stream begins with %d", resp.StatusCode)
	}
	return resp
}

// streamHTTP2 is stream by HTTP/2.
func (l *lasting) streamHTTP2(line string) *http.Response {
	l.t.Helper()
	req, err := http.NewRequestWithContext(
		l.t.Context(),
		http.MethodGet,
		"https://shop.proxy.test/1.0.0/prod/events",
		nil,
	)
	if err != nil {
		l.t.Fatal(err)
	}
	name, value, _ := strings.Cut(line, ": ")
	req.Header.Set(name, value)
	resp, err := l.http2().Do(req)
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// wantEnd reads until the gateway ends the call, which leaves the response incomplete.
func (l *lasting) wantEnd(t *testing.T, from io.Reader) {
	t.Helper()
	_, err := io.Copy(io.Discard, from)
	if err == nil || isTimeout(err) || strings.Contains(err.Error(), "Client.Timeout") {
		t.Errorf("read until %v, want the stream cut off", err)
		return
	}
	within(t, "the end at the upstream", l.left)
}

// endings are what a call has to end by, and what it was let in by before.
func endings() map[string]struct {
	credential func(*lasting) string
	end        func(*lasting)
} {
	key := func(l *lasting) string { return "X-API-Key: " + l.key }
	old := func(l *lasting) string { return "X-API-Key: " + l.old }
	token := func(*lasting) string { return "Authorization: Bearer service" }
	changed := func(edit func(*snapshot.Project)) func(*lasting) {
		return func(l *lasting) { l.change(edit) }
	}
	after := func(d time.Duration) func(*lasting) { return func(l *lasting) { l.later.Store(int64(d)) } }
	return map[string]struct {
		credential func(*lasting) string
		end        func(*lasting)
	}{
		"key revoked":  {key, func(l *lasting) { l.state(snapshot.KeyRevoked) }},
		"key frozen":   {key, func(l *lasting) { l.state(snapshot.KeyFrozen) }},
		"key expired":  {key, after(3 * time.Hour)},
		"key deleted":  {key, func(l *lasting) { l.keys.drop(l.key) }},
		"grace over":   {old, after(90 * time.Minute)},
		"owner frozen": {key, changed(func(p *snapshot.Project) { p.Barred = []snapshot.BarredUser{{ID: "usr_ben"}} })},
		"tenant not served": {key, changed(func(p *snapshot.Project) {
			p.Tenants = []snapshot.Tenant{{
				ID:   "tnt_2",
				Name: "other",
			}}
		})},
		"user frozen": {
			token,
			changed(func(p *snapshot.Project) { p.Barred = []snapshot.BarredUser{{ID: "usr_ana"}} }),
		},
		"user deleted": {token, changed(func(p *snapshot.Project) {
			p.Barred = []snapshot.BarredUser{{
				ID:      "usr_ana",
				Deleted: true,
			}}
		})},
		"session ended":      {token, changed(func(p *snapshot.Project) { p.EndedSessions = []string{"ses_1"} })},
		"app client deleted": {token, changed(func(p *snapshot.Project) { p.Clients = nil })},
		"token expired":      {token, after(25 * time.Hour)},
		"taken down":         {key, changed(func(p *snapshot.Project) { p.TakenDown = true })},
		"deleted":            {key, changed(func(p *snapshot.Project) { p.Deleted = true })},
		"unclaimed, expired": {key, changed(func(p *snapshot.Project) { p.ExpiresAt = time.Now().Add(-time.Second) })},
		"renamed":            {key, changed(func(p *snapshot.Project) { p.Name = "store" })},
		"environment deleted": {
			key,
			changed(func(p *snapshot.Project) { p.Versions[0].Environments = p.Versions[0].Environments[:1] }),
		},
		"project deleted": {key, func(l *lasting) {
			if err := l.gateway.Publish(nil); err != nil {
				l.t.Fatal(err)
			}
		}},
	}
}

// lasts gives the token of endings an end.
func lasts(_ *rig, o *gateway.Options) {
	tokens, _ := o.Verifier.(hosted)
	service := tokens["service"]
	service.Expires = time.Now().Add(24 * time.Hour)
	tokens["service"] = service
}

func TestStream_endedAccess(t *testing.T) {
	pair := newPair(t)
	for way, options := range map[string][]rigOption{
		"engine":          nil,
		"engine over TLS": {overTLS(pair)},
		"net/http":        {onNetHTTP},
		"HTTP/2":          {overTLS(pair)},
		"tunnel":          nil,
	} {
		t.Run(way, func(t *testing.T) {
			wants := map[string]func(*testing.T){}
			for name, tc := range endings() { // all begin and end together, because each takes its time
				options := append([]rigOption{lasts}, options...)
				if way == "tunnel" {
					options = append(options, withTarget(switching(t, make(chan string, 2), echo)))
				}
				l := newLasting(t, options...)
				wants[name] = l.begin(way, tc.credential(l))
				tc.end(l)
			}
			for name, want := range testkit.ByName(wants) {
				t.Run(name, want)
			}
		})
	}
}

// begin begins a call and returns the check that it is ended.
func (l *lasting) begin(way, credential string) func(*testing.T) {
	switch way {
	case "tunnel":
		conn := l.tunneled(credential)
		return func(t *testing.T) {
			if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
				t.Errorf("read %v, want the tunnel closed", err)
			}
		}
	case "HTTP/2":
		answer := l.streamHTTP2(credential)
		return func(t *testing.T) { l.wantEnd(t, answer.Body) }
	}
	answer := l.stream("GET", "/events", credential)
	return func(t *testing.T) { l.wantEnd(t, answer.Body) }
}

func (l *lasting) tunneled(credential string) net.Conn {
	l.t.Helper()
	conn := l.dial()
	l.t.Cleanup(func() { _ = conn.Close() })
	lines := append([]string{credential}, handshake...)
	_, _ = io.WriteString(conn, request("GET", "/1.0.0/prod/ws", "shop.proxy.test", lines...))
	head, err := readHead(bufio.NewReaderSize(conn, 16))
	if err != nil || !strings.HasPrefix(head, "HTTP/1.1 101 ") {
		l.t.Fatalf("the handshake is answered %q, %v", head, err)
	}
	return conn
}

// Whatever a call waits for, its end does not wait for it.
func TestStream_endedWait(t *testing.T) {
	for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		for _, waits := range []string{
			"upstream silent", "caller sends a body", "caller sends chunks", "caller does not read",
		} {
			t.Run(way+"/"+waits, func(t *testing.T) {
				t.Parallel()
				l := newLasting(t, options...)
				conn := l.dial()
				defer func() { _ = conn.Close() }()
				begin := func(method, path string, lines ...string) string {
					lines = append(lines, "X-API-Key: "+l.key)
					return request(method, "/1.0.0/prod"+path, "shop.proxy.test", lines...)
				}
				text := map[string]string{
					"upstream silent":      begin("GET", "/silent"),
					"caller sends a body":  begin("POST", "/up", "Content-Length: 100") + "part",
					"caller sends chunks":  begin("POST", "/up", "Transfer-Encoding: chunked") + "4\r\npart\r\n",
					"caller does not read": begin("GET", "/large"),
				}[waits]
				_, _ = io.WriteString(conn, text)
				l.waitForCalls(t, 1)
				l.state(snapshot.KeyRevoked)
				within(t, "the end at the upstream", l.left)
				if waits == "caller does not read" {
					return // what is on its way to the caller may still arrive
				}
				if got, err := io.ReadAll(conn); isTimeout(err) {
					t.Errorf("the caller's connection is still open after %q", got)
				}
			})
		}
	}
}

// Changes of others' credentials end no call.
func TestStream_others(t *testing.T) {
	for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(way, func(t *testing.T) {
			l := newLasting(t, options...)
			stays := []*http.Response{
				l.stream("GET", "/events", "X-API-Key: "+l.rig.key),
				l.stream("GET", "/events", "Authorization: Bearer service"),
			}
			ends := l.stream("GET", "/events", "X-API-Key: "+l.key)
			l.change(
				func(p *snapshot.Project) { p.DisplayName, p.Barred = "Shop", []snapshot.BarredUser{{ID: "usr_ben"}} },
			)
			l.wantEnd(t, ends.Body)
			l.change(func(p *snapshot.Project) { p.DisplayName = "The shop" })
			// As long as it took to end the first, so that the others were judged as well.
			for _, answer := range stays {
				for seen := 0; seen < 200; seen++ {
					if _, err := io.ReadFull(answer.Body, make([]byte, len("data: x\n\n"))); err != nil {
						t.Fatalf("after %d events: %v", seen, err)
					}
				}
			}
		})
	}
}

// A call that the gateway ended says so to the observer.
func TestObserver_reason(t *testing.T) {
	for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(way, func(t *testing.T) {
			told := make(chan gateway.Outcome, 4)
			observed := func(_ *rig, o *gateway.Options) { o.Observer = observing(told) }
			l := newLasting(t, append(options, observed)...)
			answer := l.stream("GET", "/events", "X-API-Key: "+l.key)
			l.state(snapshot.KeyFrozen)
			l.wantEnd(t, answer.Body)
			if out := within(t, "the report", told); out.Status != http.StatusOK || out.Code != policy.KeyFrozen.Code ||
				out.CredentialID != "key_caller" {
				t.Errorf("the observer is told %d %s of %s", out.Status, out.Code, out.CredentialID)
			}
		})
	}
}

type observing chan gateway.Outcome

func (o observing) Observe(out gateway.Outcome)         { o <- out }
func (o observing) ForConnection() gateway.CallObserver { return o }
