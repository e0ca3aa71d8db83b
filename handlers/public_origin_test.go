package handlers_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// A proxy that rewrites Host doesn't make pages of the public URL another site.
func TestCrossOrigin_publicURL(t *testing.T) {
	server := controlplane.NewServer(t, state.OpenSQLite(t))
	for name, tc := range map[string]struct {
		public, origin, site string
		refused              bool
	}{
		"its origin":              {"https://postern.example", "https://postern.example", "", false},
		"its origin, with a port": {"https://Postern.example:443", "https://postern.example", "", false},
		"another origin":          {"https://postern.example", "https://evil.example", "", true},
		"without TLS":             {"http://postern.example", "http://postern.example", "", true},
		"another scheme":          {"https://postern.example", "http://postern.example", "", true},
		"a foreign page":          {"https://postern.example", "https://postern.example", "cross-site", true},
	} {
		t.Run(name, func(t *testing.T) {
			server.Config.PublicURL = tc.public
			r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/login", strings.NewReader(""))
			r.Header.Set("Origin", tc.origin)
			if tc.site != "" {
				r.Header.Set("Sec-Fetch-Site", tc.site)
			}
			w := httptest.NewRecorder()
			server.Handler().ServeHTTP(w, r)
			if refused := strings.Contains(w.Body.String(), "cross_origin"); refused != tc.refused {
				t.Errorf("%d %.300s", w.Code, w.Body)
			}
		})
	}
}
