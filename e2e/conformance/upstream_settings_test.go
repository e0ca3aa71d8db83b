//go:build conformance

package conformance

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// recorder is an upstream that records the Host header of each call. While hold isn't nil, it answers calls of /hold
// once hold is closed.
type recorder struct {
	url  string
	hold chan struct{}

	mu    sync.Mutex
	hosts []string
}

func startRecorder(t *testing.T, secure *tls.Config) *recorder {
	t.Helper()
	r := &recorder{}
	server := httptest.NewUnstartedServer(r)
	if secure != nil {
		server.TLS = secure
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, call *http.Request) {
	r.mu.Lock()
	r.hosts = append(r.hosts, call.Host)
	r.mu.Unlock()
	if r.hold != nil {
		select {
		case <-r.hold:
		case <-call.Context().Done():
		}
	}
	_, _ = io.WriteString(w, "ok")
}

func (r *recorder) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.hosts
	r.hosts = nil
	return out
}

// closedAddress returns a URL that refuses connections.
func closedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return "http://" + listener.Addr().String()
}

// spreadOver returns targets with weights.
func spreadOver(balance snapshot.UpstreamBalance, targets ...any) snapshot.Upstream {
	out := snapshot.UpstreamTargets{Balance: &balance}
	for i := 0; i < len(targets); i += 2 {
		out.Targets = append(out.Targets, snapshot.UpstreamTarget{
			URL: targets[i].(string), Weight: new(targets[i+1].(int)),
		})
	}
	return snapshot.Upstream{UpstreamTargets: out}
}

// mostSessions is how many callers there are, so that each of two targets is certain to get some of them.
const mostSessions = 20

// upstreamSettings is a project with an environment for each setting of an upstream, on both gateways.
type upstreamSettings struct {
	peers        []*peer
	keys         []string  // lines with the keys of different owners
	first, other *recorder // the targets of environments with several
	private      *recorder // its certificate is from a private authority
	stuck        *recorder
}

func startUpstreamSettings(t *testing.T) upstreamSettings {
	servers := newAuthority(t)
	certificate := servers.issue(t, x509.Certificate{DNSNames: []string{"localhost"}})
	s := upstreamSettings{
		first: startRecorder(t, nil), other: startRecorder(t, nil), stuck: startRecorder(t, nil),
		private: startRecorder(t, &tls.Config{
			MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{certificate},
		}),
	}
	s.stuck.hold = make(chan struct{})
	t.Cleanup(func() { close(s.stuck.hold) })
	closed := closedAddress(t)
	authority := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: servers.certificate.Raw}))

	project, keys := sample.Fresh(s.first.url, sample.RequiresKeys())
	add := func(name, target string, upstream snapshot.Upstream) {
		project.Versions[0].Environments = append(project.Versions[0].Environments, snapshot.Environment{
			ID: "env_" + name, Name: name, Target: target, Upstream: upstream,
		})
	}
	add("impatient", s.stuck.url, snapshot.Upstream{
		Timeouts: snapshot.UpstreamTimeouts{ResponseMS: new(300), IdleMS: new(300)},
		Retries:  snapshot.UpstreamRetries{Max: new(0)},
	})
	add("one-down", closed, spreadOver(snapshot.BalanceRoundRobin, closed, 1, s.first.url, 1))
	add("all-down", closed, spreadOver(snapshot.BalanceRoundRobin, closed, 1, closedAddress(t), 1))
	add("weights", s.first.url, spreadOver(snapshot.BalanceRoundRobin, s.first.url, 3, s.other.url, 1))
	add("drained", s.first.url, spreadOver(snapshot.BalanceRoundRobin, s.first.url, 1, s.other.url, 0))
	for name, by := range map[string]snapshot.UpstreamBalance{
		"by-header": snapshot.HashHeader + "X-Session", "by-key": snapshot.HashKey, "by-owner": snapshot.HashOwner,
	} {
		add(name, s.first.url, spreadOver(by, s.first.url, 1, s.other.url, 1))
	}
	// Kong doesn't accept certificates of addresses.
	private := strings.Replace(s.private.url, "127.0.0.1", "localhost", 1)
	add("private-ca", private, snapshot.Upstream{CA: snapshot.UpstreamCA{PEM: &authority, System: new(false)}})
	add("no-ca", private, snapshot.Upstream{})
	add("host", s.first.url, snapshot.Upstream{HostHeader: new("api.internal")})
	active := keys["active"]
	active.Environment = ""
	for i := range mostSessions { // of as many owners
		k := active
		k.Plaintext = sample.Plaintext(fmt.Sprintf("session%d", i), "")
		k.ID, k.Owner = fmt.Sprintf("key_session%d", i), fmt.Sprintf("owner-%d", i)
		k.Hash = sha256.Sum256([]byte(k.Plaintext))
		keys[k.ID] = k
		s.keys = append(s.keys, key(k))
	}
	keys["active"] = active
	up := newUpstream(t)
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	s.peers = []*peer{startPosternOf(t, up, project, keys), kong}
	return s
}

// settingsCall makes a call and returns its status. All calls of a connection are made by one process of a gateway,
// which counts for itself which target is next.
type settingsCall func(environment, method string, headers ...string) (status int)

func (s upstreamSettings) over(t *testing.T, p *peer) settingsCall {
	conn, in := p.connect(t)
	return func(environment, method string, headers ...string) int {
		for _, one := range []*recorder{s.first, s.other, s.private, s.stuck} {
			one.take()
		}
		if !slices.ContainsFunc(headers, func(line string) bool { return slices.Contains(s.keys, line) }) {
			headers = append(headers, s.keys[0])
		}
		return sendAndRead(t, conn, in, one("", method, projectHost, "/1.0.0/"+environment+"/x", headers...))
	}
}

// The settings of an upstream have the same effect on both gateways.
func TestConformanceUpstreamSettings(t *testing.T) {
	s := startUpstreamSettings(t)
	for _, p := range s.peers {
		t.Run(p.name, func(t *testing.T) {
			call := s.over(t, p)
			for _, test := range []struct {
				environment, method string
				want                int
			}{
				{"prod", "GET", http.StatusOK},
				{"impatient", "GET", http.StatusGatewayTimeout},
				{"impatient", "POST", http.StatusGatewayTimeout},
				{"all-down", "GET", http.StatusBadGateway},
				{"no-ca", "GET", http.StatusBadGateway}, // before Kong has a connection to the address that it can use
				{"private-ca", "GET", http.StatusOK},
			} {
				if got := call(test.environment, test.method); got != test.want {
					t.Errorf("%s %s: %d, want %d", test.method, test.environment, got, test.want)
				}
			}
			for i := range 6 {
				for _, method := range []string{"GET", "POST"} { // nothing of them was sent to the closed address
					if got := call("one-down", method); got != http.StatusOK || len(s.first.take()) != 1 {
						t.Errorf("%s %d with one of two targets down: %d", method, i, got)
					}
				}
			}
			if call("host", "GET"); strings.Join(s.first.take(), " ") != "api.internal" {
				t.Error("the upstream got another Host header than the environment's")
			}
			if status := call("prod", "GET"); status != http.StatusOK || !strings.HasPrefix(s.first.url, "http://"+
				strings.Join(s.first.take(), " ")) {
				t.Error("the upstream got another Host header than the target's")
			}
		})
	}
}

// Both gateways spread calls over targets by their weights, and send calls of one session to one target.
func TestConformanceUpstreamSettings_balance(t *testing.T) {
	s := startUpstreamSettings(t)
	for _, p := range s.peers {
		t.Run(p.name, func(t *testing.T) {
			call := s.over(t, p)
			chosen := func(environment string, headers ...string) string {
				if status := call(environment, "GET", headers...); status != http.StatusOK {
					t.Fatalf("%s: %d", environment, status)
				}
				return fmt.Sprintf("%d/%d", len(s.first.take()), len(s.other.take()))
			}
			count := func(environment string, calls int) (first int) {
				for range calls {
					if chosen(environment) == "1/0" {
						first++
					}
				}
				return first
			}
			if first := count("weights", 40); first != 30 {
				t.Errorf("with weights 3 and 1, the first target got %d of 40 calls", first)
			}
			if first := count("drained", 10); first != 10 {
				t.Errorf("the target with weight 0 got %d of 10 calls", 10-first)
			}
			for _, environment := range []string{"by-header", "by-key", "by-owner"} {
				used := map[string]bool{}
				for session, line := range s.keys {
					if environment == "by-header" {
						line = "X-Session: " + strconv.Itoa(session)
					}
					target := chosen(environment, line)
					used[target] = true
					for range 3 {
						if again := chosen(environment, line); again != target {
							t.Errorf("%s: session %d changed its target", environment, session)
						}
					}
				}
				if len(used) != 2 {
					t.Errorf("%s: %d sessions used %d of 2 targets", environment, mostSessions, len(used))
				}
			}
		})
	}
}
