package gateway_test

import (
	"testing"

	"postern/core/snapshot"
)

// A frozen user's key is refused, alone and next to another user's token.
func TestKey_frozenUser(t *testing.T) {
	for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		r := newRig(t, nil, append([]rigOption{withHosted()}, more...)...)
		key := "X-API-Key: " + r.mint("prod", snapshot.Key{Owner: "usr_frozen"})
		r.wantCode(path+", alone", r.get("/shop/1.0.0/prod/x", noKey, key), 403, "user_frozen")
		r.wantCode(
			path+", with a token", r.get("/shop/1.0.0/prod/x", noKey, key, "Authorization: Bearer service"),
			403, "user_frozen",
		)
		r.wantCode(
			path+", with a token that does not count",
			r.get("/shop/1.0.0/prod/x", noKey, key, "Authorization: Bearer nonsense"), 403, "user_frozen",
		)
		if n := len(r.upstreamCalls()); n != 0 {
			t.Errorf("%s: refused, but the upstream got %d calls", path, n)
		}
	}
}
