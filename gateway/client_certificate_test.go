package gateway_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// ClientKey returns the key, which is sealed backward.
func (reversed) ClientKey(_ *snapshot.Project, _ string, c snapshot.ClientCertificate) ([]byte, error) {
	if len(c.Sealed) == 0 {
		return nil, errors.New("it does not open")
	}
	key := slices.Clone(c.Sealed)
	slices.Reverse(key)
	return key, nil
}

func newClientCertificate(t *testing.T, name string) *snapshot.ClientCertificate {
	t.Helper()
	chain, key := testkit.Certificate(t, name)
	slices.Reverse(key)
	return &snapshot.ClientCertificate{Chain: string(chain), Sealed: key}
}

// mutual is a TLS upstream that answers with the name in the caller's certificate.
type mutual struct{ *httptest.Server }

func newMutual(t *testing.T, version uint16, asks tls.ClientAuthType, trusted ...*snapshot.ClientCertificate) *mutual {
	t.Helper()
	up := &mutual{}
	up.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "none"
		if list := r.TLS.PeerCertificates; len(list) > 0 {
			name = list[0].Subject.CommonName
		}
		if r.Header.Get("Upgrade") == "" {
			_, _ = io.WriteString(w, name)
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"X-Name: "+name+"\r\n\r\n")
		_ = conn.Close()
	}))
	roots := x509.NewCertPool()
	for _, c := range trusted {
		roots.AppendCertsFromPEM([]byte(c.Chain))
	}
	up.TLS = &tls.Config{MinVersion: version, MaxVersion: version, ClientAuth: asks, ClientCAs: roots}
	up.StartTLS()
	t.Cleanup(up.Close)
	return up
}

// presenting points both environments at the upstream, and has them present the certificates.
func presenting(up *mutual, dev, prod *snapshot.ClientCertificate) rigOption {
	return func(r *rig, o *gateway.Options) {
		o.Unsealer = reversed{}
		roots := x509.NewCertPool()
		roots.AddCert(up.Certificate())
		o.UpstreamTLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
		for i, c := range []*snapshot.ClientCertificate{dev, prod} {
			e := &r.project.Versions[0].Environments[i]
			e.Target, e.Certificate = up.URL, c
		}
	}
}

func TestClientCertificate(t *testing.T) {
	for way, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			t.Run(way+", "+tls.VersionName(version), func(t *testing.T) {
				dev, prod := newClientCertificate(t, "dev.test"), newClientCertificate(t, "prod.test")
				up := newMutual(t, version, tls.RequireAndVerifyClientCert, dev, prod)
				r := newRig(t, nil, append([]rigOption{presenting(up, dev, prod)}, more...)...)
				for range 2 { // the second time on connections that are kept open
					for _, environment := range []string{"dev", "prod"} {
						got := r.get("/shop/1.0.0/" + environment + "/a")
						if got.StatusCode != 200 || got.body != environment+".test" {
							t.Errorf("%s: %d, the upstream saw %q", environment, got.StatusCode, got.body)
						}
					}
				}
			})
			t.Run(way+", refused without, "+tls.VersionName(version), func(t *testing.T) {
				prod := newClientCertificate(t, "prod.test")
				up := newMutual(t, version, tls.RequireAndVerifyClientCert, prod)
				r := newRig(t, nil, append([]rigOption{presenting(up, nil, prod)}, more...)...)
				if got := r.get("/shop/1.0.0/prod/a"); got.body != "prod.test" {
					t.Errorf("prod: %d %s", got.StatusCode, got.body)
				}
				if got := r.get("/shop/1.0.0/dev/a"); got.StatusCode != http.StatusBadGateway {
					t.Errorf("dev, which has no certificate: %d %s", got.StatusCode, got.body)
				}
			})
		}
		t.Run(way+", not asked for", func(t *testing.T) {
			up := newMutual(t, tls.VersionTLS13, tls.NoClientCert)
			r := newRig(t, nil,
				append([]rigOption{presenting(up, nil, newClientCertificate(t, "prod.test"))}, more...)...)
			if got := r.get("/shop/1.0.0/prod/a"); got.StatusCode != 200 || got.body != "none" {
				t.Errorf("%d, the upstream saw %q", got.StatusCode, got.body)
			}
		})
	}
}

func TestClientCertificate_otherCallers(t *testing.T) {
	prod := newClientCertificate(t, "prod.test")
	up := newMutual(t, tls.VersionTLS13, tls.RequireAndVerifyClientCert, prod)
	t.Run("HTTP/2", func(t *testing.T) {
		r := newRig(t, nil, overTLS(newPair(t)), presenting(up, nil, prod))
		if got := r.over(r.http2(), "GET", "/1.0.0/prod/a", nil); got.StatusCode != 200 || got.body != "prod.test" {
			t.Errorf("%d, the upstream saw %q", got.StatusCode, got.body)
		}
	})
	t.Run("WebSocket", func(t *testing.T) {
		r := newRig(t, nil, presenting(up, nil, prod))
		conn := r.dial()
		defer func() { _ = conn.Close() }()
		fmt.Fprint(conn, request("GET", "/1.0.0/prod/ws", "shop.proxy.test", "X-API-Key: "+r.key, "Connection: Upgrade",
			"Upgrade: websocket"))
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("X-Name"); resp.StatusCode != 101 || got != "prod.test" {
			t.Errorf("%d, the upstream saw %q", resp.StatusCode, got)
		}
	})
}

func TestClientCertificate_replaced(t *testing.T) {
	first, second := newClientCertificate(t, "first.test"), newClientCertificate(t, "second.test")
	up := newMutual(t, tls.VersionTLS13, tls.RequireAndVerifyClientCert, first, second)
	r := newRig(t, nil, presenting(up, nil, first))
	if got := r.get("/shop/1.0.0/prod/a"); got.body != "first.test" {
		t.Fatalf("%d %s", got.StatusCode, got.body)
	}
	next := *r.project
	next.Versions = slices.Clone(next.Versions)
	next.Versions[0].Environments = slices.Clone(next.Versions[0].Environments)
	next.Versions[0].Environments[1].Certificate = second
	if err := r.gateway.Publish([]*snapshot.Project{&next}); err != nil {
		t.Fatal(err)
	}
	if got := r.get("/shop/1.0.0/prod/a"); got.body != "second.test" {
		t.Errorf("after the change the upstream saw %q", got.body)
	}
}

func TestClientCertificate_unusable(t *testing.T) {
	good, other := newClientCertificate(t, "prod.test"), newClientCertificate(t, "other.test")
	up := newMutual(t, tls.VersionTLS13, tls.NoClientCert)
	r := newRig(t, nil, presenting(up, nil, good))
	for name, edit := range testkit.ByName(map[string]func(*snapshot.Environment){
		"key that does not open": func(e *snapshot.Environment) { e.Certificate.Sealed = nil },
		"key of another":         func(e *snapshot.Environment) { e.Certificate.Sealed = other.Sealed },
		"http target":            func(e *snapshot.Environment) { e.Target = "http://127.0.0.1:9" },
	}) {
		t.Run(name, func(t *testing.T) {
			next := *r.project
			next.Versions = slices.Clone(next.Versions)
			next.Versions[0].Environments = slices.Clone(next.Versions[0].Environments)
			e := &next.Versions[0].Environments[1]
			e.Certificate = &snapshot.ClientCertificate{Chain: good.Chain, Sealed: good.Sealed}
			edit(e)
			var refused *gateway.RefusedError
			if err := r.gateway.Publish([]*snapshot.Project{&next}); !errors.As(err, &refused) {
				t.Errorf("published: %v", err)
			}
		})
	}
}
