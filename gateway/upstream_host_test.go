package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/core/policy"
	"postern/core/snapshot"
)

func TestHostHeader(t *testing.T) {
	addresses := map[string][2]string{ // host and path
		"path form":       {"proxy.test", "/shop/1.0.0/prod/a"},
		"host form":       {"shop.proxy.test", "/1.0.0/prod/a"},
		"custom domain":   {ownHost, "/a"},
		"in another case": {strings.ToUpper(ownHost) + ".:8443", "/a"},
		"its own claim":   {ownHost, "/1.0.0/prod"},
	}
	for name, tc := range map[string]struct {
		set    *string
		domain string // on the custom domain; "": the target's
		other  string // elsewhere
	}{
		"no setting":  {nil, "", ""},
		"target":      {new("target"), "", ""},
		"a host name": {new("api.internal"), "api.internal", "api.internal"},
		"caller":      {new("caller"), ownHost, ""},
	} {
		for way, option := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
			r := newRig(t, nil, append(option, withMode(snapshot.Passthrough),
				withUpstreams(snapshot.Upstream{}, snapshot.Upstream{HostHeader: tc.set}))...)
			target := strings.TrimPrefix(r.project.Versions[0].Environments[0].Target, "http://")
			for form, at := range addresses {
				t.Run(name+"/"+way+"/"+form, func(t *testing.T) {
					got := r.raw(request("GET", at[1], at[0], "X-Forwarded-Host: evil.test"))
					want := tc.other
					if strings.EqualFold(bareName(at[0]), ownHost) {
						want = tc.domain
					}
					if want == "" {
						want = target
					}
					all := r.upstreamCalls()
					last := all[len(all)-1]
					if got.StatusCode != http.StatusOK || last.host != want {
						t.Errorf("%d, the upstream got the Host %q, want %q", got.StatusCode, last.host, want)
					}
					if own := last.header.Get("X-Forwarded-Host"); !strings.EqualFold(own, bareName(at[0])) {
						t.Errorf("X-Forwarded-Host is %q", own)
					}
				})
			}
		}
	}
}

func bareName(host string) string {
	name, _, _ := strings.Cut(host, ":")
	return strings.TrimSuffix(name, ".")
}

// The Host header has no part in the TLS handshake.
func TestHostHeader_serverName(t *testing.T) {
	up := newPrivate(t, "localhost")
	set := checkedBy(up.pem, false, "")
	set.HostHeader = new("api.internal")
	for way, through := range paths(t) {
		t.Run(way, func(t *testing.T) {
			target := strings.Replace(up.URL, "127.0.0.1", "localhost", 1)
			r, client := through(nil, withTarget(target), withUpstreams(set, set))
			if got := r.told(client); got != "200 SNI localhost complete" {
				t.Errorf("the caller got %q", got)
			}
		})
	}
}

func TestHostHeader_explained(t *testing.T) {
	for set, want := range map[string]string{
		"target": "/base/a.", "api.internal": ", with the Host header api.internal.",
		"caller": "Calls to a custom domain keep its name in the Host header.",
	} {
		r := newRig(t, nil, withMode(snapshot.Passthrough),
			withUpstreams(snapshot.Upstream{}, snapshot.Upstream{HostHeader: &set}))
		got := r.gateway.Explain(policy.Question{
			ProjectID: r.project.ID, Version: "1.0.0", Environment: "prod", Method: "GET", Path: "/a",
		})
		if last := got.Steps[len(got.Steps)-1].Detail; !strings.HasSuffix(last, want) {
			t.Errorf("%s: %q", set, last)
		}
	}
}
