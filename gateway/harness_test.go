package gateway_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postern/core/policy"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/platform/egress"
	"postern/testkit"
	"postern/testkit/sample"
)

// net/http sits half a second on a connection that it has refused, to let the
// caller read why; no Close waits for that.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// patience bounds every wait of a test; it is reached only when the test fails.
const patience = time.Minute

// seen is one request as the upstream got it.
type seen struct {
	method, uri, host, body string
	header, trailer         http.Header
	length                  int64
	encoding                []string
}

// rig is a gateway on its own listener in front of a real upstream.
type rig struct {
	t       testing.TB
	gateway *gateway.Gateway
	addr    string // of the gateway
	project *snapshot.Project
	others  []*snapshot.Project // that are served with it
	keys    *keyring
	key     string // plaintext of an active key
	log     *testkit.LogBuffer

	secure      *tls.Config // of callers; nil: without TLS
	netHTTPOnly bool
	listener    func(net.Listener) net.Listener // around the gateway's own; nil: none
	server      *gateway.Server

	mu    sync.Mutex
	calls []seen
}

type rigOption func(*rig, *gateway.Options)

func withLimits(l gateway.Limits) rigOption {
	return func(_ *rig, o *gateway.Options) { o.Limits = l }
}

func withProject(edit func(*snapshot.Project)) rigOption {
	return func(r *rig, _ *gateway.Options) { edit(r.project) }
}

func withMode(mode string, methods ...string) rigOption {
	return withProject(func(p *snapshot.Project) {
		p.Versions[0].Access.Mode, p.Versions[0].Access.Methods = mode, methods
	})
}

func withTarget(target string) rigOption {
	return withProject(func(p *snapshot.Project) {
		for i := range p.Versions[0].Environments {
			p.Versions[0].Environments[i].Target = target
		}
	})
}

// newRig puts a gateway before an upstream that records its requests and then
// answers by handler (nil: 200 "up"). The project shop asks for keys.
func newRig(t testing.TB, handler http.HandlerFunc, options ...rigOption) *rig {
	t.Helper()
	r := &rig{
		t:    t,
		keys: &keyring{byNew: map[[32]byte]*snapshot.Key{}, byOld: map[[32]byte]*snapshot.Key{}},
		log:  &testkit.LogBuffer{},
	}
	upstream := httptest.NewServer(r.recording(handler))
	t.Cleanup(upstream.Close)
	r.project = &snapshot.Project{
		ID:            "prj_shop",
		Name:          "shop",
		FallbackOwner: "fallback-owner",
		Tenants:       []snapshot.Tenant{{ID: "tnt_1", Name: snapshot.DefaultTenant}},
		Versions: []snapshot.Version{{
			ID: "ver_1", Name: "1.0.0",
			Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
				Mode:    snapshot.Authenticate,
				Methods: []string{snapshot.APIKey},
				Keyless: snapshot.Reject,
			}},
			Environments: []snapshot.Environment{
				{ID: "env_dev", Name: "dev", Target: upstream.URL},
				{ID: "env_prod", Name: "prod", Target: upstream.URL + "/base", Domains: sample.Domains(ownHost)},
			},
		}},
	}
	guard, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	o := gateway.Options{
		Domain: "proxy.test", Keys: r.keys, Dial: guard.DialWithin,
		Logger: slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	for _, option := range options {
		option(r, &o)
	}
	r.gateway = gateway.New(o)
	t.Cleanup(r.gateway.Close)
	if err := r.gateway.Publish(append(r.others, r.project)); err != nil {
		t.Fatal(err)
	}
	r.key = r.mint("prod", snapshot.Key{
		ID:       "key_1",
		Owner:    "billing",
		Scopes:   []string{"read", "write"},
		TenantID: "tnt_1",
	})
	r.serve()
	return r
}

func (r *rig) serve() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.addr = l.Addr().String()
	if r.listener != nil {
		l = r.listener(l)
	}
	server := r.gateway.Server(r.addr)
	r.server = server
	if r.netHTTPOnly {
		gateway.NetHTTPOnly(server)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	r.t.Cleanup(func() { _ = server.Close(); <-done })
}

func (r *rig) recording(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if next == nil {
			body, _ := io.ReadAll(req.Body)
			r.record(req, string(body))
			_, _ = io.WriteString(w, "up")
			return
		}
		r.record(req, "")
		next(w, req)
	}
}

func (r *rig) record(req *http.Request, body string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, seen{
		method: req.Method, uri: req.RequestURI, host: req.Host, body: body, header: req.Header.Clone(),
		trailer: req.Trailer.Clone(), length: req.ContentLength, encoding: req.TransferEncoding,
	})
}

// upstreamCalls returns the calls that the upstream has got so far.
func (r *rig) upstreamCalls() []seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]seen(nil), r.calls...)
}

// lastCall is the only request the upstream has got.
func (r *rig) lastCall() seen {
	r.t.Helper()
	calls := r.upstreamCalls()
	if len(calls) != 1 {
		r.t.Fatalf("the upstream got %d requests, want 1", len(calls))
	}
	return calls[0]
}

// mint puts a key of the project into the keyring and returns its plaintext.
func (r *rig) mint(env string, key snapshot.Key) string {
	r.t.Helper()
	plaintext, err := policy.NewKey("pst", env)
	if err != nil {
		r.t.Fatal(err)
	}
	if key.ProjectID == "" {
		key.ProjectID = r.project.ID
	}
	if key.State == "" {
		key.State = snapshot.KeyActive
	}
	if key.TenantID == "" {
		key.TenantID = "tnt_1"
	}
	r.keys.put(plaintext, key)
	return plaintext
}

// reply is a response, read to its end.
type reply struct {
	*http.Response
	body string
}

func (a reply) code() string {
	var body struct{ Code string }
	_ = json.Unmarshal([]byte(a.body), &body)
	return body.Code
}

// call sends one request by path form, with the good key unless the lines bring
// one or say "no key", and reads the response.
func (r *rig) call(method, path string, lines ...string) reply {
	r.t.Helper()
	return r.raw(request(method, path, r.addr, r.withKey(lines)...))
}

func (r *rig) get(path string, lines ...string) reply { return r.call("GET", path, lines...) }

const noKey = "no key"

func (r *rig) withKey(lines []string) []string {
	var out []string
	key := r.key
	for _, line := range lines {
		if line == noKey || strings.HasPrefix(strings.ToLower(line), "x-api-key:") {
			key = ""
		}
		if line != noKey {
			out = append(out, line)
		}
	}
	if key != "" {
		out = append(out, "X-API-Key: "+key)
	}
	return out
}

func request(method, path, host string, lines ...string) string {
	return method + " " + path + " HTTP/1.1\r\nHost: " + host + "\r\n" + strings.Join(append(lines, "", ""), "\r\n")
}

// raw sends bytes on its own connection and reads one response.
func (r *rig) raw(bytes string) reply {
	r.t.Helper()
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, bytes); err != nil {
		r.t.Fatal(err)
	}
	method, _, _ := strings.Cut(bytes, " ")
	return r.readReply(bufio.NewReader(conn), method)
}

func (r *rig) readReply(from *bufio.Reader, method string) reply {
	r.t.Helper()
	resp, err := http.ReadResponse(from, &http.Request{Method: method})
	if err != nil {
		r.t.Fatalf("read the answer: %v", err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("read the answer's body: %v (got %q)", err, body)
	}
	return reply{resp, string(body)}
}

func (r *rig) dial() net.Conn {
	r.t.Helper()
	conn, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = conn.SetDeadline(time.Now().Add(patience))
	if r.secure != nil {
		return tls.Client(conn, r.secure)
	}
	return conn
}

func (r *rig) wantCode(name string, got reply, status int, code string) {
	r.t.Helper()
	if got.StatusCode != status || got.code() != code {
		r.t.Errorf("%s: %d %s, want %d %s", name, got.StatusCode, got.body, status, code)
	}
}

// within waits for a channel and fails the test when nothing comes.
func within[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("%s did not happen", what)
		panic("unreachable")
	}
}

// rawUpstream is an upstream that speaks bytes: serve gets each connection.
func rawUpstream(t *testing.T, serve func(net.Conn, *bufio.Reader)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
				defer stop()
				defer func() { _ = conn.Close() }()
				serve(conn, bufio.NewReader(conn))
			})
		}
	})
	t.Cleanup(func() { cancel(); _ = l.Close(); wg.Wait() })
	return "http://" + l.Addr().String()
}

// secureUpstream is rawUpstream over TLS, or without where secure is nil.
func secureUpstream(t *testing.T, secure *tls.Config, serve func(net.Conn, *bufio.Reader)) string {
	t.Helper()
	if secure == nil {
		return rawUpstream(t, serve)
	}
	target := rawUpstream(t, func(conn net.Conn, _ *bufio.Reader) {
		over := tls.Server(conn, secure)
		if over.Handshake() == nil {
			serve(over, bufio.NewReader(over))
			_ = over.CloseWrite() // the end of the stream, not of the connection alone
		}
	})
	return strings.Replace(target, "http:", "https:", 1)
}

// readHead reads a request up to its empty line.
func readHead(from *bufio.Reader) (string, error) {
	var head strings.Builder
	for {
		line, err := from.ReadString('\n')
		head.WriteString(line)
		if err != nil {
			return head.String(), fmt.Errorf("read the head: %w", err)
		}
		if line == "\r\n" {
			return head.String(), nil
		}
	}
}
