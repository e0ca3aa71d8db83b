package pages_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// Pages are compressed, but for those that another site had the browser request, and those with a secret.
func TestPages_compressed(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	get := func(path, accepted, site string) (coding string, body []byte) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "text/html")
		request.Header.Set("Accept-Encoding", accepted)
		request.Header.Set("Sec-Fetch-Site", site)
		answer, err := s.Client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err = io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d, %v", path, answer.StatusCode, err)
		}
		if answer.Header.Get("No-Gzip-Compression") != "" {
			t.Error("the answer has the header that is for the compressor alone")
		}
		return answer.Header.Get("Content-Encoding"), body
	}
	_, plain := get("/projects", "identity", "same-origin")
	for _, tt := range []struct {
		name, accepted, site string
		want                 string
	}{
		{"from a link", "gzip, deflate, br", "same-origin", "gzip"},
		{"typed in", "gzip", "none", "gzip"},
		{"not accepted", "br", "same-origin", ""},
		{"refused", "gzip;q=0", "same-origin", ""},
		{"from another site", "gzip", "cross-site", ""},
		{"from another host of the site", "gzip", "same-site", ""},
		{"of no browser", "gzip", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			coding, body := get("/projects", tt.accepted, tt.site)
			if coding != tt.want {
				t.Fatalf("Content-Encoding is %q, want %q", coding, tt.want)
			}
			if coding == "" {
				return
			}
			if len(body) > len(plain)/2 {
				t.Errorf("%d bytes of %d", len(body), len(plain))
			}
			unzip, err := gzip.NewReader(strings.NewReader(string(body)))
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(unzip)
			if err != nil || !strings.HasSuffix(strings.TrimSpace(string(text)), "</html>") {
				t.Errorf("the page is not whole: %v, %d bytes", err, len(text))
			}
		})
	}
	t.Run("with a secret", func(t *testing.T) {
		const keys = "/projects/shop/keys"
		form := s.Get(keys).Find("form:has(#key-owner)").AttrOr("action", "")
		made := s.Post(form, "owner", "billing", "key_type", "full")
		coding, body := get(made.Header.Get("Location"), "gzip", "same-origin")
		if coding != "" || !strings.Contains(string(body), "pst_") {
			t.Errorf("Content-Encoding is %q of a page with a key", coding)
		}
	})
}
