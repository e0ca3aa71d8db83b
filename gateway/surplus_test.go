package gateway_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
)

const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"

// surpluses are answers with something behind their end. With TLS, each piece is a record; all of them arrive in one
// segment. PART stands for the beginning of one.
var surpluses = map[string]struct {
	method string
	pieces []string
}{
	"HEAD, with a body":         {"HEAD", []string{"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n", forged}},
	"HEAD, in one piece":        {"HEAD", []string{"HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n" + forged}},
	"behind a known length":     {"GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup", forged}},
	"a length in one piece":     {"GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup" + forged}},
	"a length in its own piece": {"GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", "up", forged}},
	"behind the last chunk": {
		"GET",
		[]string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n0\r\n\r\n", forged},
	},
	"chunks in one piece": {
		"GET",
		[]string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n0\r\n\r\n" + forged},
	},
	"behind a trailer": {
		"GET",
		[]string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n", forged},
	},
	"behind 204":           {"GET", []string{"HTTP/1.1 204 No Content\r\n\r\n", forged}},
	"behind 304":           {"GET", []string{"HTTP/1.1 304 Not Modified\r\nContent-Length: 60\r\n\r\n", forged}},
	"behind an empty body": {"GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", forged}},
	"a length next to chunks": {
		"GET",
		[]string{"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nup\r\n0\r\n\r\n"},
	},
	"a single byte":             {"GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup", "H"}},
	"the beginning of a record": {"GET", []string{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nup", "PART" + forged}},
}

// surplusUpstream answers a request for ?<kind> by the table and any other truthfully.
// It reports requests on connections on which it has sent too much.
func surplusUpstream(t *testing.T, secure *tls.Config) string {
	target := rawUpstream(t, func(conn net.Conn, from *bufio.Reader) {
		to := &segment{Conn: conn, over: conn}
		if secure != nil {
			over := tls.Server(to, secure)
			if over.Handshake() != nil {
				return
			}
			from, to.over = bufio.NewReader(over), over
		}
		for spoilt := ""; ; {
			head, err := readHead(from)
			if err != nil {
				return
			}
			if spoilt != "" {
				t.Errorf("a connection is used again after %q", spoilt)
			}
			_, kind, _ := strings.Cut(strings.Fields(head)[1], "?")
			kind = strings.ReplaceAll(kind, "+", " ")
			if answer := surpluses[kind]; answer.pieces != nil {
				spoilt = kind
				to.send(answer.pieces...)
			} else {
				to.send("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\ngenuine")
			}
		}
	})
	if secure != nil {
		target = strings.Replace(target, "http:", "https:", 1)
	}
	return target
}

// segment is a connection below TLS, or a plain one, whose pieces leave together.
type segment struct {
	net.Conn
	over  net.Conn // TLS, or the connection itself
	holds bool
	held  []byte
}

func (s *segment) Write(p []byte) (int, error) {
	if !s.holds {
		return s.Conn.Write(p)
	}
	s.held = append(s.held, p...)
	return len(p), nil
}

func (s *segment) send(pieces ...string) {
	if s.over == s.Conn {
		_, _ = io.WriteString(s.Conn, strings.ReplaceAll(strings.Join(pieces, ""), "PART", ""))
		return
	}
	s.holds = true
	for _, piece := range pieces {
		before := len(s.held)
		part, isPart := strings.CutPrefix(piece, "PART")
		_, _ = io.WriteString(s.over, part)
		if isPart {
			s.held = s.held[:before+(len(s.held)-before)/2]
		}
	}
	s.holds = false
	_, _ = s.Conn.Write(s.held)
	s.held = nil
}

// Bytes that an upstream sends beyond a response reach no call: neither a call of another project that has the same
// upstream, nor the next of the same.
func TestAnswer_surplus(t *testing.T) {
	pair := newPair(t)
	trusts := func(_ *rig, o *gateway.Options) { o.UpstreamTLS = pair.client }
	for scheme, secure := range map[string]*tls.Config{"http": nil, "https": pair.server} {
		for way, options := range map[string][]rigOption{"engine": {trusts}, "net/http": {trusts, onNetHTTP}} {
			t.Run(scheme+"/"+way, func(t *testing.T) {
				target := surplusUpstream(t, secure)
				r := newRig(t, nil, append(options, withTarget(target), withMode(snapshot.Passthrough))...)
				other := *r.project
				other.ID, other.Name = "prj_books", "books"
				if err := r.gateway.Publish([]*snapshot.Project{r.project, &other}); err != nil {
					t.Fatal(err)
				}
				for kind, answer := range surpluses {
					for range 20 {
						r.call(answer.method, "/shop/1.0.0/prod?"+strings.ReplaceAll(kind, " ", "+"), noKey)
						for _, project := range []string{"books", "shop"} {
							if got := r.get("/"+project+"/1.0.0/prod", noKey); got.StatusCode != 200 ||
								got.body != "genuine" {
								t.Fatalf("%s, then a call of %s: %d %q", kind, project, got.StatusCode, got.body)
							}
						}
					}
				}
			})
		}
	}
}

// Connections are used again within a project, and never by another.
func TestConnection_perProject(t *testing.T) {
	pair := newPair(t)
	trusts := func(_ *rig, o *gateway.Options) { o.UpstreamTLS = pair.client }
	for scheme, secure := range map[string]*tls.Config{"http": nil, "https": pair.server} {
		for way, options := range map[string][]rigOption{"engine": {trusts}, "net/http": {trusts, onNetHTTP}} {
			t.Run(scheme+"/"+way, func(t *testing.T) {
				var mu sync.Mutex
				seen := map[string][]string{} // the paths that came over each connection
				upstream := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					mu.Lock()
					defer mu.Unlock()
					seen[r.RemoteAddr] = append(seen[r.RemoteAddr], r.URL.Path)
					_, _ = io.WriteString(w, "up")
				}))
				if secure != nil {
					upstream.TLS = secure.Clone()
					upstream.StartTLS()
				} else {
					upstream.Start()
				}
				t.Cleanup(upstream.Close)
				r := newRig(t, nil, append(options, withMode(snapshot.Passthrough))...)
				var served []*snapshot.Project
				for _, name := range []string{"shop", "books"} {
					p := *r.project
					p.ID, p.Name, p.Versions = "prj_"+name, name, slices.Clone(p.Versions)
					p.Versions[0].Environments = []snapshot.Environment{{
						ID:     "env_" + name,
						Name:   "prod",
						Target: upstream.URL + "/" + name,
					}}
					served = append(served, &p)
				}
				if err := r.gateway.Publish(served); err != nil {
					t.Fatal(err)
				}
				caller := r.dial()
				defer func() { _ = caller.Close() }()
				from := bufio.NewReader(caller)
				for i := range 20 {
					project := []string{"shop", "books"}[i%2]
					_, _ = io.WriteString(caller, request("GET", "/"+project+"/1.0.0/prod", r.addr))
					r.readReply(from, "GET")
				}
				mu.Lock()
				defer mu.Unlock()
				for conn, paths := range seen {
					if paths = slices.Compact(paths); len(paths) != 1 {
						t.Errorf("over %s came calls of %v", conn, paths)
					}
				}
				if len(seen) != 2 {
					t.Errorf("20 calls of two projects, one after the other, took %d connections, want 2", len(seen))
				}
			})
		}
	}
}
