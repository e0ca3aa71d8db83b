package gateway_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/core/snapshot"
)

// Dashboard and gateway may share a host name, and cookies know no ports: the
// session of who is signed in must not reach an upstream, and no upstream may
// plant one.
func TestCookies_dashboard(t *testing.T) {
	r := newRig(t, func(w http.ResponseWriter, _ *http.Request) {
		for _, line := range []string{"postern=planted; Path=/", "__Host-postern=planted; Secure; Path=/", "own=1"} {
			w.Header().Add("Set-Cookie", line)
		}
	}, withMode(snapshot.Passthrough))
	got := r.get("/shop/1.0.0/prod/a", "Cookie: a=1; postern=session; b=2", "Cookie: __Host-postern=session")
	if cookies := r.lastCall().header["Cookie"]; !slices.Equal(cookies, []string{"a=1; b=2"}) {
		t.Errorf("the upstream saw %q", cookies)
	}
	if set := got.Header["Set-Cookie"]; !slices.Equal(set, []string{"own=1"}) {
		t.Errorf("the caller was sent %q", set)
	}
}

// Upstreams that turn every odd character into an underscore must not read an
// identity where there is none.
func TestHeaders_droppedByNginx(t *testing.T) {
	r := newRig(t, nil, withMode(snapshot.Passthrough))
	r.get("/shop/1.0.0/prod/a", "X.Consumer.ID: evil", "X-Consumer-ID': evil", "X_Custom: kept")
	seen := r.lastCall().header
	for name := range seen {
		if strings.EqualFold(name, "X.Consumer.ID") || strings.EqualFold(name, "X-Consumer-ID'") {
			t.Errorf("%s reached the upstream", name)
		}
	}
	if seen.Get("X_Custom") != "kept" {
		t.Errorf("the upstream saw %v", seen)
	}
}
