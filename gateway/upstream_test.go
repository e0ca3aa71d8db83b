package gateway_test

import (
	"bufio"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
)

// reversed is an Unsealer whose sealed values are the values backward.
type reversed struct{}

func (reversed) HeaderValue(_ *snapshot.Project, environmentID string, h snapshot.UpstreamHeader) (string, error) {
	if environmentID != "env_prod" {
		return "", errors.New("sealed for another environment")
	}
	value := slices.Clone(h.Sealed)
	slices.Reverse(value)
	return string(value), nil
}

// SigningKey takes the sealed value for the key.
func (reversed) SigningKey(_ *snapshot.Project, k snapshot.CallSigningKey) (ed25519.PrivateKey, error) {
	if len(k.Sealed) == 0 {
		return nil, errors.New("it does not open")
	}
	return k.Sealed, nil
}

// withHeaders has prod set headers for its upstream; dev sets none.
func withHeaders(headers ...snapshot.UpstreamHeader) rigOption {
	return func(r *rig, o *gateway.Options) {
		o.Unsealer = reversed{}
		r.project.Versions[0].Environments[1].Headers = headers
	}
}

var upstreamToken = snapshot.UpstreamHeader{Name: "X-Upstream-Token", Sealed: []byte("terces")}

func TestUpstreamHeaders(t *testing.T) {
	for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			authorization := snapshot.UpstreamHeader{Name: "Authorization", Sealed: []byte("yek reraeB")}
			apiKey := snapshot.UpstreamHeader{Name: "X-Api-Key", Sealed: []byte("eno rehto")}
			r := newRig(t, nil, append([]rigOption{withHeaders(apiKey, authorization, upstreamToken)}, more...)...)
			r.transcript(exchangeCase{bytes: request(
				"GET", "/1.0.0/prod/a", "shop.proxy.test", "X-API-Key: KEY", "x-upstream-token: forged",
				"X_Upstream_Token: forged", "X-Upstream-Token: forged", "Authorization: Basic mine",
			) + request(
				"GET", "/1.0.0/dev/b", "shop.proxy.test", "X-API-Key: KEY", "X-Upstream-Token: the caller's",
			)})
			calls := r.upstreamCalls()
			if len(calls) != 3 {
				t.Fatalf("the upstream got %d calls", len(calls))
			}
			for name, want := range map[string]string{
				"X-Upstream-Token": "secret", "Authorization": "Bearer key", "X-Api-Key": "other one",
				"X_upstream_token": "",
			} {
				if got := strings.Join(calls[0].header[name], ","); got != want {
					t.Errorf("prod got %s %q, want %q", name, got, want)
				}
			}
			if got := calls[1].header.Get("X-Upstream-Token"); got != "the caller's" {
				t.Errorf("dev, which sets no header, got %q", got)
			}
		})
	}
}

func TestUpstreamHeaders_trailer(t *testing.T) {
	r := newRig(t, parityUpstream, withHeaders(upstreamToken))
	r.transcript(exchangeCase{methods: []string{"POST"}, bytes: "POST /1.0.0/prod/a HTTP/1.1\r\n" +
		"Host: shop.proxy.test\r\nX-API-Key: KEY\r\nTransfer-Encoding: chunked\r\nTrailer: X-Upstream-Token, " +
		"X-Sum\r\n\r\n2\r\nhi\r\n0\r\nX-Upstream-Token: forged\r\nX-Sum: 1\r\n\r\n"})
	calls := r.upstreamCalls()
	if len(calls) == 0 {
		t.Fatal("the upstream got no call")
	}
	if got := calls[0].trailer; got.Get("X-Upstream-Token") != "" {
		t.Errorf("the upstream got the caller's trailer %v", got)
	}
	if got := calls[0].header.Get("X-Upstream-Token"); got != "secret" {
		t.Errorf("the upstream got %q", got)
	}
}

func TestUpstreamHeaders_webSocket(t *testing.T) {
	got := make(chan string, 1)
	r := newRig(t, func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("X-Upstream-Token")
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+
			"websocket\r\n\r\n")
		_ = conn.Close()
	}, withHeaders(upstreamToken))
	conn := r.dial()
	defer func() { _ = conn.Close() }()
	fmt.Fprint(conn, request("GET", "/1.0.0/prod/ws", "shop.proxy.test", "X-API-Key: "+r.key, "Connection: Upgrade",
		"Upgrade: websocket"))
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols {
		t.Errorf("status %d", resp.StatusCode)
	}
	if value := <-got; value != "secret" {
		t.Errorf("the upstream got %q", value)
	}
}

// A project whose upstream credentials cannot be opened is not served without them.
func TestUpstreamHeaders_unusable(t *testing.T) {
	for name, tt := range map[string]struct {
		unsealer gateway.Unsealer
		header   snapshot.UpstreamHeader
	}{
		"without an unsealer": {nil, upstreamToken},
		"a reserved name":     {reversed{}, snapshot.UpstreamHeader{Name: "X-Consumer-Id", Sealed: []byte("x")}},
		"a line break":        {reversed{}, snapshot.UpstreamHeader{Name: "X-A", Sealed: []byte("b\r\na")}},
		"no value":            {reversed{}, snapshot.UpstreamHeader{Name: "X-A"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gateway.New(gateway.Options{Keys: &keyring{}, Unsealer: tt.unsealer})
			defer g.Close()
			p := &snapshot.Project{ID: "prj_1", Name: "shop", Versions: []snapshot.Version{{
				ID: "ver_1", Name: "1", Access: snapshot.Access{RequestsAuth: snapshot.RequestsAuth{
					Mode: snapshot.Passthrough, Keyless: snapshot.Reject,
				}},
				Environments: []snapshot.Environment{{
					ID: "env_prod", Name: "prod", Target: "http://up.example",
					Headers: []snapshot.UpstreamHeader{tt.header},
				}},
			}}}
			err := g.Publish([]*snapshot.Project{p})
			if _, ok := errors.AsType[*gateway.RefusedError](err); !ok {
				t.Errorf("published with %v", err)
			}
		})
	}
}
