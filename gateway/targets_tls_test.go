package gateway_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/gateway"
	"postern/testkit"
)

// twoSecure starts two TLS upstreams, https://a.test and https://b.test. They answer with the server name, the Host and
// the version of HTTP that they got. It returns the certificate of both, and the option with which they are reached.
func twoSecure(t *testing.T) (certificate string, reachable rigOption) {
	t.Helper()
	cert, key := testkit.Certificate(t, "a.test", "b.test", "api.internal")
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]string{}
	for _, name := range []string{"a.test:443", "b.test:443"} {
		up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.TLS.ServerName+" "+r.Host+" "+r.Proto)
		}))
		up.TLS, up.EnableHTTP2 = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, true
		up.StartTLS()
		t.Cleanup(up.Close)
		at[name] = up.Listener.Addr().String()
	}
	return string(cert), func(_ *rig, o *gateway.Options) {
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, at[address])
		}
	}
}

// Each target has its own server name and Host, unless the environment sets one for all.
func TestTargets_tls(t *testing.T) {
	certificate, reachable := twoSecure(t)
	for name, tc := range map[string]struct {
		edit func(*snapshot.Upstream)
		want map[string]int
	}{
		"nothing set": {
			func(*snapshot.Upstream) {},
			map[string]int{"a.test a.test HTTP/1.1": 2, "b.test b.test HTTP/1.1": 2},
		},
		"a server name": {
			func(u *snapshot.Upstream) { u.ServerName = new("api.internal") },
			map[string]int{"api.internal a.test HTTP/1.1": 2, "api.internal b.test HTTP/1.1": 2},
		},
		"a Host": {
			func(u *snapshot.Upstream) { u.HostHeader = new("api.internal") },
			map[string]int{"a.test api.internal HTTP/1.1": 2, "b.test api.internal HTTP/1.1": 2},
		},
		"HTTP/2": {
			func(u *snapshot.Upstream) { u.HTTP = contract.HTTP2 },
			map[string]int{"a.test a.test HTTP/2.0": 2, "b.test b.test HTTP/2.0": 2},
		},
	} {
		for path, start := range testkit.ByName(paths(t)) {
			t.Run(name+"/"+path, func(t *testing.T) {
				r, client := start(nil, reachable, withUpstream(func(u *snapshot.Upstream) {
					*u = checkedBy(certificate, false, "")
					u.Targets = []snapshot.UpstreamTarget{target("https://a.test", 1), target("https://b.test", 1)}
					tc.edit(u)
				}))
				wantAnswers(t, r.collect(client, 4), tc.want)
			})
		}
	}
}
