//go:build conformance

package conformance

import (
	"net/http"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// The headers that an environment sets reach its upstream with the same values, and callers
// can neither set nor remove them.
func TestConformanceUpstreamHeaders(t *testing.T) {
	t.Setenv("UPSTREAM_1_0_0_PROD_X_UPSTREAM_TOKEN", `it's $(a) "secret" {vault://env/HOME}`)
	t.Setenv("UPSTREAM_1_0_0_PROD_AUTHORIZATION", "Bearer of-the-gateway")
	t.Setenv("UPSTREAM_1_0_0_PROD_X_API_KEY", "of-the-gateway")
	up := newUpstream(t)
	project, keys := sample.Fresh(up.url, sample.RequiresKeys())
	project.Versions[0].Environments[0].Headers = []snapshot.UpstreamHeader{
		{Name: "Authorization", Sealed: []byte("Bearer of-the-gateway")},
		{Name: "X-Api-Key", Sealed: []byte("of-the-gateway")},
		{Name: "X-Upstream-Token", Sealed: []byte(`it's $(a) "secret" {vault://env/HOME}`)},
	}
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	postern := startPosternOf(t, up, project, keys)
	active := key(keys["active"])
	for _, call := range []Case{
		get("set", prod+"/x", active),
		get("forged", prod+"/x", active, "X-Upstream-Token: forged", "x-upstream-token: forged",
			"X_Upstream_Token: forged", "Authorization: Basic mine"),
		get("named in Connection", prod+"/x", active, "Connection: X-Upstream-Token, Authorization, X-Api-Key"),
		get("no key", prod+"/x", "X-Upstream-Token: forged"),
		withBody("with a body", "POST", projectHost, prod+"/x", "hello", active, "Content-Length: 5"),
		websocket("websocket", prod+"/ws", active),
	} {
		want := postern.send(call)
		compare(t, call, postern, kong, want, kong.send(call))
		for _, seen := range want.Seen {
			if got := seen.Headers.Get("X-Upstream-Token"); got != `it's $(a) "secret" {vault://env/HOME}` {
				t.Errorf("%s: the upstream got %q", call.Name, got)
			}
		}
	}
}

// A gateway without the value refuses calls instead of forwarding them without it.
func TestConformanceUpstreamHeaders_withoutValue(t *testing.T) {
	t.Setenv("UPSTREAM_1_0_0_PROD_X_UPSTREAM_TOKEN", "")
	up := newUpstream(t)
	project, keys := sample.Fresh(up.url, sample.RequiresKeys())
	project.Versions[0].Environments[0].Headers = []snapshot.UpstreamHeader{{Name: "X-Upstream-Token"}}
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	got := kong.send(get("set", prod+"/x", key(keys["active"])))
	if len(got.Seen) > 0 {
		t.Error("the call reached the upstream")
	}
	if got.Status != http.StatusServiceUnavailable {
		t.Errorf("status %d", got.Status)
	}
}
