package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"postern/core/snapshot"
	"postern/gateway"
)

func TestSigningDirectory(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ended, former := signingKey("a", now.Add(-9*time.Hour)), signingKey("b", now.Add(-8*time.Hour))
	ended.PublishedUntil, former.PublishedUntil = now, now.Add(time.Second)
	signing, pending := signingKey("c", now.Add(-time.Hour)), signingKey("d", now.Add(time.Hour))
	keys := []snapshot.CallSigningKey{ended, former, signing, pending}
	at := func(_ *rig, o *gateway.Options) { o.Clock = func() time.Time { return now } }
	for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			r := newRig(t, nil, append([]rigOption{signed(keys...), at}, more...)...)
			for name, tt := range map[string]struct {
				host, path, method string
				status             int
			}{
				"below the gateway's address": {r.addr, "/shop" + directory, "GET", 200},
				"at the project's host":       {"shop.proxy.test", directory, "GET", 200},
				"normalized": {
					"shop.proxy.test", "/./.well-known//http-message-signatures-directory", "GET", 200,
				},
				"HEAD":            {"shop.proxy.test", directory, "HEAD", 200},
				"POST":            {"shop.proxy.test", directory, "POST", 404},
				"another project": {"other.proxy.test", directory, "GET", 404},
				"no project":      {r.addr, directory, "GET", 404},
				"longer":          {"shop.proxy.test", directory + "/a", "GET", 404},
			} {
				t.Run(name, func(t *testing.T) {
					got := r.raw(request(tt.method, tt.path, tt.host))
					if got.StatusCode != tt.status {
						t.Fatalf("%d %s, want %d", got.StatusCode, got.body, tt.status)
					}
					if tt.status != http.StatusOK || tt.method == "HEAD" {
						return
					}
					var set struct{ Keys []map[string]string }
					if err := json.Unmarshal([]byte(got.body), &set); err != nil {
						t.Fatal(err)
					}
					var ids []string
					for _, k := range set.Keys {
						ids = append(ids, k["kid"])
					}
					if fmt.Sprint(ids) != "[b c d]" {
						t.Errorf("the keys %v, want those that are published", ids)
					}
					if len(set.Keys[0]) != 5 || set.Keys[0]["kty"] != "OKP" || set.Keys[0]["crv"] != "Ed25519" {
						t.Errorf("a key is %v", set.Keys[0])
					}
					if got.Header.Get("Content-Type") != "application/http-message-signatures-directory+json" {
						t.Errorf("it is served as %s", got.Header.Get("Content-Type"))
					}
				})
			}
			if n := len(r.upstreamCalls()); n != 0 {
				t.Errorf("the upstream got %d calls", n)
			}
		})
	}
}

func TestSigningDirectory_deletedProject(t *testing.T) {
	r := newRig(t, nil, signed(signingKey("a", time.Time{})),
		withProject(func(p *snapshot.Project) { p.Deleted = true }))
	if got := r.get("/shop"+directory, noKey); got.StatusCode != http.StatusGone {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
