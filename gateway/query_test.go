package gateway_test

import (
	"net/http"
	"testing"

	"postern/core/snapshot"
)

// The query is changed on both paths, and only where the version has changes to it.
func TestTransforms_query(t *testing.T) {
	changes := snapshot.Changes{
		Remove:  []string{"gone"},
		Rename:  []string{"old:new"},
		Replace: []string{"known:a b&c"},
		Add:     []string{"b:never", "added:1"},
		Append:  []string{"new:last", "flag:1"},
	}
	for path, more := range map[string][]rigOption{"engine": nil, "net/http": {onNetHTTP}} {
		t.Run(path, func(t *testing.T) {
			var seen string
			upstream := func(_ http.ResponseWriter, r *http.Request) { seen = r.RequestURI }
			changed := newRig(t, upstream, append(more, withTransforms(snapshot.Transforms{Query: changes}))...)
			for sent, want := range map[string]string{
				"":                          "?added=1&b=never&flag=1&new=last",
				"?gone=1&gone":              "?added=1&b=never&flag=1&new=last",
				"?old=2&old=1&new=3&flag":   "?added=1&b=never&flag=1&new=2&new=1&new=last",
				"?known=1&b=%C3%A4+c&a%2F=": "?a%2F=&added=1&b=%C3%A4%20c&flag=1&known=a%20b%26c&new=last",
			} {
				key := "X-API-Key: " +
					changed.mint("prod", snapshot.Key{ID: "key_1", Owner: "app", Scopes: []string{"*"}})
				changed.call("GET", "/shop/1.0.0/prod/x"+sent, key)
				if seen != "/base/x"+want {
					t.Errorf("%q became %s, not %s", sent, seen, want)
				}
			}
			untouched := newRig(t, upstream, append(more, withTransforms(everyTransform))...)
			key := "X-API-Key: " +
				untouched.mint("prod", snapshot.Key{ID: "key_1", Owner: "app", Scopes: []string{"*"}})
			if untouched.call("GET", "/shop/1.0.0/prod/x?b=+&a", key); seen != "/base/x?b=+&a" {
				t.Errorf("without changes: %s", seen)
			}
		})
	}
}
