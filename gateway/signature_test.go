package gateway_test

import (
	"bufio"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
	"postern/testkit/verifiers"
)

// signingKey returns a key made from a letter, sealed as the Unsealer reversed opens it.
func signingKey(id string, from time.Time) snapshot.CallSigningKey {
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat(id[:1], ed25519.SeedSize)))
	public, _ := private.Public().(ed25519.PublicKey)
	return snapshot.CallSigningKey{ID: id, Public: public, Sealed: private, SignsFrom: from}
}

// signed has the project sign its calls.
func signed(keys ...snapshot.CallSigningKey) rigOption {
	return func(r *rig, o *gateway.Options) {
		o.Unsealer = reversed{}
		r.project.CallSigningKeys = keys
	}
}

// directory returns the public keys as the gateway publishes them.
func (r *rig) directory(path string) json.RawMessage {
	got := r.get(path, noKey)
	if got.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %d %s", path, got.StatusCode, got.body)
	}
	return json.RawMessage(got.body)
}

const directory = "/.well-known/http-message-signatures-directory"

// verify has the verifier check a call as its upstream got it.
func (r *rig) verify(s seen, environment string) (verifiers.Signature, error) {
	return verifiers.VerifySignature(r.t, verifiers.SignedRequest{
		Method: s.method,
		URL:    "https://behind.a.balancer.example" + s.uri,
		Header: s.header,
		Keys:   r.directory("/shop" + directory),
		Tag:    environment,
	})
}

func TestCallSigning(t *testing.T) {
	for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, append([]rigOption{signed(signingKey("a", time.Time{}))}, more...)...)
			for name, tt := range map[string]struct {
				method, target string
				lines          []string
				uri            string
				covered        string // besides method, path and query
			}{
				"with a key": {
					"GET", "/shop/1.0.0/prod/orders%2F1?a=b&c=%20", nil, "/base/orders%2F1?a=b&c=%20",
					"x-project-id x-consumer-id x-consumer-username x-consumer-custom-id x-credential-identifier " +
						"x-authenticated-scope x-tenant-id",
				},
				"without a query": {"DELETE", "/shop/1.0.0/prod", nil, "/base", ""},
				"an empty query":  {"GET", "/shop/1.0.0/prod/a?", nil, "/base/a?", ""},
				"a signature of the caller": {"GET", "/shop/1.0.0/prod/x", []string{
					`Signature-Input: sig1=("@method");keyid="theirs"`, "Signature: sig1=:AAAA:", "signature: b=:AAAA:",
					"signature_input: b=()", "Signature-Agent: \"https://theirs.example\"",
				}, "/base/x", ""},
				"named in Connection": {"GET", "/shop/1.0.0/prod/x", []string{
					"Connection: Signature, Signature-Input, X-Project-ID",
				}, "/base/x", ""},
			} {
				t.Run(name, func(t *testing.T) {
					r.raw(request(tt.method, tt.target, r.addr, r.withKey(tt.lines)...))
					calls := r.upstreamCalls()
					got := calls[len(calls)-1]
					if got.uri != tt.uri {
						t.Errorf("the upstream got %s, want %s", got.uri, tt.uri)
					}
					s, err := r.verify(got, "env_prod")
					if err != nil {
						t.Fatalf("%v\n%v", err, got.header)
					}
					want := "@method @path @query " + tt.covered
					if tt.covered != "" && strings.Join(s.Covered, " ") != want {
						t.Errorf("it covers %v, want %s", s.Covered, want)
					}
					for name := range identityOf(got.header) {
						if !slices.Contains(s.Covered, strings.ToLower(name)) {
							t.Errorf("%s is not covered", name)
						}
					}
					if s.Parameters.KeyID != "a" || s.Parameters.Alg != "ed25519" {
						t.Errorf("parameters %+v", s.Parameters)
					}
					for name := range got.header {
						if strings.EqualFold(name, "signature_input") || name == "Signature-Agent" {
							t.Errorf("the caller's %s reached the upstream", name)
						}
					}
				})
			}
		})
	}
}

// Each change of a signed call is found by the verifier.
func TestCallSigning_changes(t *testing.T) {
	r := newRig(t, nil, signed(signingKey("a", time.Time{})))
	r.get("/shop/1.0.0/prod/orders?a=b")
	call := r.lastCall()
	if _, err := r.verify(call, "env_prod"); err != nil {
		t.Fatal(err)
	}
	for name, change := range testkit.ByName(map[string]func(*seen){
		"the method":    func(s *seen) { s.method = "POST" },
		"the path":      func(s *seen) { s.uri = "/base/order?a=b" },
		"the query":     func(s *seen) { s.uri = "/base/orders?a=c" },
		"the owner":     func(s *seen) { s.header.Set("X-Consumer-Custom-Id", "other") },
		"the project":   func(s *seen) { s.header.Set("X-Project-Id", "prj_other") },
		"another scope": func(s *seen) { s.header.Add("X-Authenticated-Scope", "admin") },
		"no scope":      func(s *seen) { s.header.Del("X-Authenticated-Scope") },
		"the time": func(s *seen) {
			s.header.Set("Signature-Input", strings.Replace(s.header.Get("Signature-Input"), "created=1",
				"created=2", 1))
		},
	}) {
		t.Run(name, func(t *testing.T) {
			changed := call
			changed.header = call.header.Clone()
			change(&changed)
			if _, err := r.verify(changed, "env_prod"); err == nil {
				t.Error("the signature holds")
			}
		})
	}
	t.Run("at another environment", func(t *testing.T) {
		if _, err := r.verify(call, "env_dev"); err == nil {
			t.Error("the signature holds")
		}
	})
}

func TestCallSigning_webSocket(t *testing.T) {
	got := make(chan seen, 1)
	r := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		got <- seen{method: r.Method, uri: r.RequestURI, header: r.Header.Clone()}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+
			"websocket\r\n\r\n")
		_ = conn.Close()
	}, signed(signingKey("a", time.Time{})))
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	fmt.Fprint(conn, request("GET", "/1.0.0/prod/ws", "shop.proxy.test", "X-API-Key: "+r.key, "Connection: Upgrade",
		"Upgrade: websocket"))
	if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.verify(within(t, "the handshake", got), "env_prod"); err != nil {
		t.Error(err)
	}
}

func TestCallSigning_trailer(t *testing.T) {
	r := newRig(t, parityUpstream, signed(signingKey("a", time.Time{})))
	r.raw("POST /shop/1.0.0/prod/a HTTP/1.1\r\nHost: " + r.addr + "\r\nX-API-Key: " + r.key + "\r\n" +
		"Transfer-Encoding: chunked\r\nTrailer: Signature, X-Sum\r\n\r\n" +
		"2\r\nhi\r\n0\r\nSignature: sig1=:AAAA:\r\nSignature-Input: sig1=()\r\nX-Sum: 1\r\n\r\n")
	if got := r.lastCall().trailer; got.Get("Signature")+got.Get("Signature-Input") != "" {
		t.Errorf("the upstream got the caller's trailers %v", got)
	}
}

// A project that does not sign leaves the caller's signature alone.
func TestCallSigning_disabled(t *testing.T) {
	r := newRig(t, nil)
	r.get("/shop/1.0.0/prod/x", "Signature: sig1=:AAAA:", `Signature-Input: sig1=()`)
	h := r.lastCall().header
	if h.Get("Signature") != "sig1=:AAAA:" || h.Get("Signature-Input") != "sig1=()" {
		t.Errorf("the upstream got %v", h)
	}
	if got := r.get("/shop"+directory, noKey); got.StatusCode != http.StatusNotFound {
		t.Errorf("the directory of a project that does not sign: %d", got.StatusCode)
	}
}

func TestCallSigning_unreadableKey(t *testing.T) {
	other := signingKey("b", time.Time{})
	crossed := other
	crossed.Sealed = signingKey("c", time.Time{}).Sealed
	for name, tt := range map[string]struct {
		unsealer gateway.Unsealer
		key      snapshot.CallSigningKey
	}{
		"without an unsealer": {nil, other},
		"damaged":             {reversed{}, snapshot.CallSigningKey{ID: "b", Public: other.Public}},
		"of another key":      {reversed{}, crossed},
	} {
		t.Run(name, func(t *testing.T) {
			g := gateway.New(gateway.Options{Keys: &keyring{}, Unsealer: tt.unsealer})
			defer g.Close()
			p := &snapshot.Project{ID: "prj_1", Name: "shop", CallSigningKeys: []snapshot.CallSigningKey{tt.key}}
			if _, ok := errors.AsType[*gateway.RefusedError](g.Publish([]*snapshot.Project{p})); !ok {
				t.Error("the project is served")
			}
		})
	}
}
