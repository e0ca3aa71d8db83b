package gateway_test

import (
	"io"
	"net/http"
	"testing"

	"postern/core/snapshot"
	"postern/gateway"
)

func withProbes(_ *rig, o *gateway.Options) {
	o.Probes = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "probed "+r.URL.Path)
	})
}

// Health checks name a replica in any way, or none.
func TestProbes_anyHost(t *testing.T) {
	pair := newPair(t)
	hosts := []string{"proxy.test", "shop.proxy.test", "gateway.internal", "10.1.2.3:8090", "[::1]"}
	for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}, "TLS": {overTLS(pair)}} {
		t.Run(way, func(t *testing.T) {
			r := newRig(t, nil, append(options, withProbes)...)
			for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
				for _, host := range hosts {
					if got := r.raw(request("GET", path, host)); got.StatusCode != 200 || got.body != "probed "+path {
						t.Errorf("%s at %s: %d %q", path, host, got.StatusCode, got.body)
					}
				}
				if got := r.raw("HEAD " + path + " HTTP/1.0\r\n\r\n"); got.StatusCode != 200 {
					t.Errorf("%s by HTTP/1.0 without Host: %d", path, got.StatusCode)
				}
				post := request("POST", path, "proxy.test", "Content-Length: 0")
				r.wantCode("POST "+path, r.raw(post), 404, "no_route")
			}
			r.wantCode("below a probe", r.raw(request("GET", "/healthz/x", "proxy.test")), 404, "no_route")
			if calls := r.upstreamCalls(); len(calls) != 0 {
				t.Errorf("the upstream got %d calls", len(calls))
			}
		})
	}
}

func TestProbes_projects(t *testing.T) {
	for way, options := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(way, func(t *testing.T) {
			named := withProject(func(p *snapshot.Project) { p.Name = "readyz" })
			r := newRig(t, nil, append(options, withProbes, named)...)
			for _, at := range []struct{ host, path string }{
				{"proxy.test", "/readyz/1.0.0/prod"},
				{"readyz.proxy.test", "/1.0.0/prod/readyz"},
			} {
				got := r.raw(request("GET", at.path, at.host, "X-API-Key: "+r.key))
				if got.StatusCode != 200 || got.body != "up" {
					t.Errorf("%s%s: %d %q, want the upstream's response", at.host, at.path, got.StatusCode, got.body)
				}
			}
		})
	}
}

func TestProbes_disabled(t *testing.T) {
	r := newRig(t, nil)
	r.wantCode("no probes", r.raw(request("GET", "/readyz", "proxy.test")), 404, "no_route")
}
