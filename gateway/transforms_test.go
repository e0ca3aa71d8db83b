package gateway_test

import (
	"net/http"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/core/snapshot"
)

func withTransforms(of snapshot.Transforms) rigOption {
	return withProject(func(p *snapshot.Project) { p.Versions[0].Transforms = of })
}

var everyTransform = snapshot.Transforms{
	Request: snapshot.Changes{
		Remove:  []string{"X-Gone", "Cookie"},
		Rename:  []string{"X-Old:X-New", "X-Absent:X-Kept"},
		Replace: []string{"X-Known:replaced", "X-Unknown:replaced", "X-New:both"},
		Add:     []string{"X-Known:added", "X-Added:it's: \"literal\" ${x}"},
		Append:  []string{"X-Known:appended", "X-More:1", "X-More:2"},
	},
	Response: snapshot.Changes{
		Remove:  []string{"X-Gone", "Set-Cookie"},
		Rename:  []string{"X-Old:X-New", "X-Gone:X-Back"},
		Replace: []string{"X-Known:replaced", "X-Unknown:replaced", "X-New:never"},
		Add:     []string{"X-Known:added", "X-Frame-Options:DENY", "X-Gone:never"},
		Append:  []string{"X-Known:appended"},
	},
}

// Requests and responses are changed on both paths; so are refusals and preflights.
func TestTransforms(t *testing.T) {
	for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			var seen http.Header
			upstream := func(w http.ResponseWriter, r *http.Request) {
				seen = r.Header.Clone()
				h := w.Header()
				h["X-Known"], h["X-Old"] = []string{"1", "2"}, []string{"a", "b"}
				h["X-Gone"], h["Set-Cookie"] = []string{"gone"}, []string{"a=b"}
				h["X-Kept"] = []string{"kept"}
			}
			r := newRig(t, upstream, append(more, withTransforms(everyTransform),
				withCORS(snapshot.CORS{CORS: contract.CORS{Origins: []string{"*"}, Methods: []string{"GET"}}}))...)
			key := "X-API-Key: " + r.mint("prod", snapshot.Key{ID: "key_1", Owner: "app", Scopes: []string{"*"}})
			got := r.call("GET", "/shop/1.0.0/prod/x", key, "X-Gone: 1", "Cookie: a=b", "X-Old: 1", "x-old: 2",
				"X-New: before", "X-Known: first", "X-Known: second", "X-Kept: kept")
			wantHeader(t, "request", seen, map[string]string{
				"X-Gone": "", "Cookie": "", "X-Old": "", "X-New": "both", "X-Kept": "kept",
				"X-Known":   "replaced | appended",
				"X-Unknown": "", "X-Added": "it's: \"literal\" ${x}", "X-More": "1 | 2", "X-Consumer-Username": "app",
			})
			changed := map[string]string{
				"X-Gone": "", "Set-Cookie": "", "X-Old": "", "X-New": "a | b", "X-Back": "gone", "X-Kept": "kept",
				"X-Known": "replaced | appended", "X-Unknown": "", "X-Frame-Options": "DENY",
			}
			wantHeader(t, "response", got.Header, changed)
			own := map[string]string{
				"X-Known": "added | appended", "X-Frame-Options": "DENY", "X-Gone": "never", "X-New": "", "X-Back": "",
			}
			refused := r.call("GET", "/shop/1.0.0/prod/x", "X-API-Key: none")
			r.wantCode("refused", refused, 401, "invalid_key")
			wantHeader(t, "refusal", refused.Header, own)
			preflight := r.call("OPTIONS", "/shop/1.0.0/prod/x", appPage, "Access-Control-Request-Method: GET")
			wantHeader(t, "preflight", preflight.Header, own)
			if preflight.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("preflight: %v", preflight.Header)
			}
		})
	}
}

// Transforms don't change an environment's own headers.
func TestTransforms_withUpstreamHeaders(t *testing.T) {
	for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			var seen http.Header
			changes := snapshot.Changes{
				Remove: []string{"X-Gone"},
				Rename: []string{"X-Old:X-Upstream-Token"},
				Append: []string{"x-upstream-token:mine", "X-A:1"},
			}
			r := newRig(t, func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Clone() }, append(more,
				withHeaders(upstreamToken), withTransforms(snapshot.Transforms{Request: changes}))...)
			key := "X-API-Key: " + r.mint("prod", snapshot.Key{ID: "key_1", Owner: "app", Scopes: []string{"*"}})
			r.call("GET", "/shop/1.0.0/prod/x", key, "X-Old: forged", "X-Gone: 1")
			wantHeader(t, "request", seen, map[string]string{
				"X-Upstream-Token": "secret", "X-Old": "forged", "X-Gone": "", "X-A": "1",
			})
		})
	}
}

// Transforms lead no browser away from an unclaimed project, neither by its responses nor by refusals.
func TestTransforms_unclaimed(t *testing.T) {
	onBothPaths(t, func(t *testing.T, path rigOption) {
		changes := snapshot.Changes{
			Rename: []string{"X-Lure:Refresh"},
			Add:    []string{"Refresh:0;url=https://evil.example", "X-Content-Type-Options:none", "X-Kept:1"},
		}
		upstream := func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Lure", "0;url=https://evil.example")
		}
		r := newRig(t, upstream, unclaimed, withTransforms(snapshot.Transforms{Response: changes}), path)
		key := "X-API-Key: " + r.mint("prod", snapshot.Key{ID: "key_1", Owner: "app", Scopes: []string{"*"}})
		shown := r.call("GET", "/shop/1.0.0/prod/x", key, "Accept: text/html")
		wantHeader(t, "response", shown.Header, map[string]string{
			"Refresh": "", "X-Content-Type-Options": "nosniff", "X-Kept": "1",
		})
		refused := r.call("GET", "/shop/1.0.0/prod/x", "X-API-Key: none", "Accept: text/html")
		r.wantCode("refused", refused, 401, "invalid_key")
		wantHeader(t, "refusal", refused.Header, map[string]string{"Refresh": "", "X-Kept": ""})
	})
}

func wantHeader(t *testing.T, what string, got http.Header, want map[string]string) {
	t.Helper()
	for name, lines := range want {
		if have := strings.Join(got[name], " | "); have != lines {
			t.Errorf("%s: %s is %q, not %q", what, name, have, lines)
		}
	}
}
