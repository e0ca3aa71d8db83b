package gateway_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// private is a TLS upstream whose certificate is its own authority. It answers with the server name that the gateway
// sent, and notes which paths came over which connection.
type private struct {
	*httptest.Server

	pem  string
	mu   sync.Mutex
	seen map[string]string // the last path by the caller's address

	mixed atomic.Bool // one connection had two paths
}

func newPrivate(t *testing.T, names ...string) *private {
	t.Helper()
	cert, key := testkit.Certificate(t, names...)
	return newPrivateWith(t, cert, key)
}

func newPrivateWith(t *testing.T, cert, key []byte) *private {
	t.Helper()
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	up := &private{pem: string(cert), seen: map[string]string{}}
	up.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		up.mu.Lock()
		if was := up.seen[r.RemoteAddr]; was != "" && was != r.URL.Path {
			up.mixed.Store(true)
		}
		up.seen[r.RemoteAddr] = r.URL.Path
		up.mu.Unlock()
		_, _ = io.WriteString(w, "SNI "+r.TLS.ServerName)
	}))
	up.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	up.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that the gateway ends
	up.StartTLS()
	t.Cleanup(up.Close)
	return up
}

// withUpstreams gives the environments dev and prod settings of their upstreams.
func withUpstreams(dev, prod snapshot.Upstream) rigOption {
	return withProject(func(p *snapshot.Project) {
		p.Versions[0].Environments[0].Upstream, p.Versions[0].Environments[1].Upstream = dev, prod
	})
}

// checkedBy are settings with their own authorities.
func checkedBy(pem string, system bool, serverName string) snapshot.Upstream {
	u := snapshot.Upstream{ServerName: &serverName}
	u.CA.PEM, u.CA.System = &pem, &system
	return u
}

// systemTrusts has the gateway trust an authority as it trusts those of its machine.
func systemTrusts(pem string) rigOption {
	return func(_ *rig, o *gateway.Options) {
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM([]byte(pem))
		o.UpstreamTLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
}

func TestUpstreamTLS(t *testing.T) {
	own, other := newPrivate(t, "api.internal", "localhost"), newPrivate(t, "other.internal")
	byName := strings.Replace(own.URL, "127.0.0.1", "localhost", 1)
	for name, tc := range map[string]struct {
		target   string
		set      snapshot.Upstream
		system   string // what the machine trusts
		wantBody string // "": 502
	}{
		"its own authority":       {byName, checkedBy(own.pem, true, ""), other.pem, "SNI localhost"},
		"its own authority alone": {byName, checkedBy(own.pem, false, ""), other.pem, "SNI localhost"},
		"one of several": {
			byName, checkedBy(other.pem+own.pem, false, ""), other.pem, "SNI localhost",
		},
		"another authority":                   {byName, checkedBy(other.pem, true, ""), other.pem, ""},
		"the system's authority too":          {byName, checkedBy(other.pem, true, ""), own.pem, "SNI localhost"},
		"the system's authority not any more": {byName, checkedBy(other.pem, false, ""), own.pem, ""},
		"no settings":                         {byName, snapshot.Upstream{}, other.pem, ""},
		"another server name": {
			own.URL, checkedBy(own.pem, true, "api.internal"), other.pem, "SNI api.internal",
		},
		"a server name that it doesn't have": {byName, checkedBy(own.pem, true, "wrong.internal"), other.pem, ""},
		"a server name, and the system's": {
			byName, checkedBy("", true, "api.internal"), own.pem, "SNI api.internal",
		},
		"an address as the server name":   {byName, checkedBy(own.pem, true, "127.0.0.1"), other.pem, "SNI "},
		"an address that it doesn't have": {byName, checkedBy(own.pem, true, "192.0.2.1"), other.pem, ""},
	} {
		for way, through := range paths(t) {
			t.Run(name+"/"+way, func(t *testing.T) {
				r, client := through(nil, withTarget(tc.target), withUpstreams(tc.set, tc.set), systemTrusts(tc.system))
				want := "200 " + tc.wantBody + " complete"
				if tc.wantBody == "" {
					want = `502 {"message":`
				}
				if got := r.told(client); !strings.HasPrefix(got, want) {
					t.Errorf("the caller got %q, want %q", got, want)
				}
			})
		}
	}
}

// Environments share connections only with those that check the upstream's certificate in the same way.
func TestUpstreamTLS_ownConnections(t *testing.T) {
	pem, key := testkit.Certificate(t, "api.internal", "localhost")
	extra, _ := testkit.Certificate(t, "x.internal")
	set := func(more []byte, system bool, name string) snapshot.Upstream {
		return checkedBy(string(pem)+string(more), system, name)
	}
	for name, tc := range map[string]struct {
		prod  snapshot.Upstream
		share bool
	}{
		"the same":            {set(nil, false, "localhost"), true},
		"another server name": {set(nil, false, "api.internal"), false},
		"the system too":      {set(nil, true, "localhost"), false},
		"more authorities":    {set(extra, false, "localhost"), false},
	} {
		for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			t.Run(name+"/"+way, func(t *testing.T) {
				up := newPrivateWith(t, pem, key)
				r := newRig(t, nil, append(options, withTarget(up.URL), withMode(snapshot.Passthrough),
					withUpstreams(set(nil, false, "localhost"), tc.prod))...)
				calls := 4
				if tc.share {
					calls = 1000
				}
				for i := 0; i < calls && !up.mixed.Load(); i++ {
					for _, environment := range []string{"dev", "prod"} {
						got := r.get("/shop/1.0.0/" + environment + "/" + environment)
						if got.StatusCode != 200 {
							t.Errorf("%s answers %d", environment, got.StatusCode)
						}
					}
				}
				if up.mixed.Load() != tc.share {
					t.Errorf("a connection is shared: %t, want %t", up.mixed.Load(), tc.share)
				}
			})
		}
	}
}

// A call is never sent to an upstream whose authorities can't be read.
func TestUpstreamTLS_unusable(t *testing.T) {
	r := newRig(t, nil)
	broken := *r.project
	broken.Versions = append([]snapshot.Version{}, r.project.Versions...)
	broken.Versions[0].Environments = append([]snapshot.Environment{}, r.project.Versions[0].Environments...)
	broken.Versions[0].Environments[1].Upstream = checkedBy("no certificate", false, "")
	if err := r.gateway.Publish([]*snapshot.Project{&broken}); err == nil ||
		!strings.Contains(err.Error(), "certificate authorities") {
		t.Errorf("Publish: %v", err)
	}
}
