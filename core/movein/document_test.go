package movein_test

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"postern/core/movein"
)

// A document that was kept gives the plan of its file, and doesn't have its keys.
func TestKong_document(t *testing.T) {
	for name, text := range files(t) {
		t.Run(name, func(t *testing.T) {
			_, want := read(t, text, movein.Options{AllowWeak: true})
			d, err := movein.Read([]movein.File{{Text: []byte(text)}})
			if err != nil {
				t.Fatal(err)
			}
			got := planOfKept(t, d, nil)
			if a, b := encoded(t, want), encoded(t, got); a != b {
				t.Errorf("the plan of the file is\n%s\nthe plan of the document is\n%s", a, b)
			}
			for i, keys := range want.OwnerKeys {
				for n, key := range keys {
					if got.OwnerKeys[i][n] != key {
						t.Errorf("key %d of owner %d differs", n, i)
					}
				}
			}
		})
	}
}

const withPlaceholder = `_format_version: "3.0"
services:
- name: orders
  url: http://${UPSTREAM}:8080
  routes: [{name: orders, paths: [/orders]}]
consumers:
- {username: web, keyauth_credentials: [{key: 4d1c9a2b7e8f4a6db1c2d3e4f5a69788}, {key: $WEB_KEY}]}
`

// Placeholders of a document are filled again and again, also those of keys.
func TestKong_documentPlaceholders(t *testing.T) {
	d, err := movein.Read([]movein.File{{Text: []byte(withPlaceholder)}})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := d.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := io.ReadAll(flate.NewReader(bytes.NewReader(kept)))
	if err != nil || !bytes.Contains(unpacked, []byte("keyauth_credentials")) ||
		bytes.Contains(unpacked, []byte("4d1c9a2b7e8f4a6d")) {
		t.Errorf("the document has a key, or: %v", err)
	}
	if p := planOfKept(t, d, nil); len(p.Projects) != 0 || p.Keys.Imported != 1 || len(p.ByHand.Placeholders) != 2 {
		t.Errorf("without values: %+v", p.ImportPlan)
	}
	set := map[string]string{"UPSTREAM": "orders.internal", "WEB_KEY": "0f1e2d3c4b5a69788796a5b4c3d2e1f0"}
	p := planOfKept(t, d, set)
	if len(p.Projects) != 1 || p.Keys.Imported != 2 || len(p.ByHand.Placeholders) != 0 ||
		!strings.Contains(encoded(t, p), "http://orders.internal:8080") {
		t.Errorf("with values: %+v", p.ImportPlan)
	}
	if p := planOfKept(t, d, nil); len(p.ByHand.Placeholders) != 2 {
		t.Error("values are kept in the document")
	}
}

// planOfKept returns the plan of a document after it was stored.
func planOfKept(t *testing.T, d *movein.Files, set map[string]string) *movein.Plan {
	t.Helper()
	kept, err := d.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again movein.Files
	if err := again.UnmarshalBinary(kept); err != nil {
		t.Fatal(err)
	}
	p, err := again.Plan(set, movein.Options{AllowWeak: true, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encoded(t *testing.T, p *movein.Plan) string {
	t.Helper()
	out, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
