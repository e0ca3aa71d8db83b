//go:build conformance

package conformance

import (
	"crypto/sha256"
	"net/http"
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
	"postern/testkit/sample"
)

// Keys that were imported from another gateway, of any form, are let in by both gateways, in the header that they were
// sent in before. Upstreams get the identity that they know.
func TestConformanceImportedKeys(t *testing.T) {
	up := newUpstream(t)
	access := sample.RequiresKeys()
	access.APIKey.In = []snapshot.KeyPlace{{Header: "apikey"}}
	project, keys := sample.Fresh(up.url, access)
	project.ImportedKeys = true
	add := func(name, plaintext string, change func(*snapshot.Key)) {
		k := keys["active"]
		k.ID, k.Owner, k.Plaintext, k.Hash = "key_"+name, name, plaintext, sha256.Sum256([]byte(plaintext))
		if change != nil {
			change(&k.Key)
		}
		keys[name] = k
	}
	add("short", "0123456789abcdef", nil)
	add("long", strings.Repeat("0123456789abcdef", 256), nil)
	add("odd", `a b"c\d;e=f,g`, nil)
	add("frozen", "frozen-0123456789abcdef", func(k *snapshot.Key) { k.State = snapshot.KeyFrozen })
	add("known", "known-0123456789abcdef", func(k *snapshot.Key) {
		k.Consumer = &snapshot.Consumer{ID: "c-1", Username: "Ana B", CustomID: "7%7"}
		k.CredentialID = new("old-7")
	})
	add("partly", "partly-0123456789abcdef", func(k *snapshot.Key) {
		k.Consumer = &snapshot.Consumer{ID: "c-2", Username: "Ben"} // no X-Consumer-Custom-ID
	})
	kong, _ := startKong(t, exportOf(t, project, keys, bundle.Options{Consumers: true}), up)
	postern := startPosternOf(t, up, project, keys)
	for name, k := range keys {
		status := http.StatusOK
		if name == "frozen" {
			status = http.StatusForbidden
		}
		for _, call := range []Case{
			get(name, prod+"/x", "apikey: "+k.Plaintext),
			get(name+" and another letter", prod+"/x", "apikey: "+k.Plaintext+"x"),
			get(name+" in another header", prod+"/x", "X-API-Key: "+k.Plaintext),
		} {
			want := postern.send(call)
			compare(t, call, postern, kong, want, kong.send(call))
			expected := http.StatusUnauthorized
			if call.Name == name {
				expected = status
			}
			if want.Status != expected {
				t.Errorf("%s: status %d, want %d", call.Name, want.Status, expected)
			}
		}
	}
}
