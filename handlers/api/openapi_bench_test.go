package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// BenchmarkCreateProxy_openAPI measures POST /proxy with the OpenAPI documents of real services, as a
// client sees it but for the network.
func BenchmarkCreateProxy_openAPI(b *testing.B) {
	for _, name := range []string{"discord.json", "box.json", "figma.yaml"} {
		b.Run(name, func(b *testing.B) {
			h := controlplane.NewServer(b, state.OpenSQLite(b)).Handler()
			packed, err := os.ReadFile("../../core/openapi/testdata/" + name + ".gz")
			if err != nil {
				b.Fatal(err)
			}
			z, err := gzip.NewReader(bytes.NewReader(packed))
			if err != nil {
				b.Fatal(err)
			}
			document, err := io.ReadAll(z)
			if err != nil {
				b.Fatal(err)
			}
			body := `{"target":"http://127.0.0.1:9","openapi":` + asMember(b, name, document) + `}`
			b.SetBytes(int64(len(document)))
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest("POST", "/proxy", strings.NewReader(body))
				r.Host = "127.0.0.1:8080"
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != 201 {
					b.Fatalf("%d %.300s", w.Code, w.Body)
				}
			}
		})
	}
}

// asMember returns a document as the value of a member: JSON as it is, YAML as a string.
func asMember(tb testing.TB, name string, document []byte) string {
	tb.Helper()
	if strings.HasSuffix(name, ".json") {
		return string(document)
	}
	text, err := json.Marshal(string(document))
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}
