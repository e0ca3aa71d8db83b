package handlers_test

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"testing"

	"postern/platform/config"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestMetrics_callers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		what, token, from string
		header            []string
		status            int
		host              string // "": localhost
	}{
		{"from here", "", "127.0.0.1:1", nil, 200, ""},
		{"from here over IPv6", "", "[::1]:1", nil, 200, ""},
		{"from elsewhere", "", "192.0.2.1:1", nil, 404, ""},
		{"through a proxy here", "", "127.0.0.1:1", []string{"X-Forwarded-For", "192.0.2.1"}, 404, ""},
		{"through another proxy here", "", "127.0.0.1:1", []string{"Via", "1.1 x"}, 404, ""},
		{"a token where none is set", "", "192.0.2.1:1", []string{"Authorization", "Bearer "}, 404, ""},
		{"with the token", "four-words", "192.0.2.1:1", []string{"Authorization", "Bearer four-words"}, 200, ""},
		{"without the token", "four-words", "127.0.0.1:1", nil, 401, ""},
		{"with another token", "four-words", "127.0.0.1:1", []string{"Authorization", "Bearer four-word"}, 401, ""},
		{"a page of another name, here", "", "127.0.0.1:1", nil, 421, "evil.example:8080"},
		{"an address, here", "", "127.0.0.1:1", nil, 200, "127.0.0.1:8080"},
		{
			"another name, with the token", "four-words", "192.0.2.1:1", []string{"Authorization", "Bearer four-words"},
			200, "postern-0",
		},
	}
	db := state.OpenSQLite(t)
	for _, tt := range tests {
		s := controlplane.NewServer(t, db)
		s.Config.MetricsToken = config.Secret(tt.token)
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Host, r.RemoteAddr = cmp.Or(tt.host, "localhost"), tt.from
		for i := 0; i < len(tt.header); i += 2 {
			r.Header.Set(tt.header[i], tt.header[i+1])
		}
		for listener, h := range map[string]http.Handler{"control plane": s.Handler(), "gateway": s.Probes()} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("%s, at the %s: %d, want %d", tt.what, listener, w.Code, tt.status)
			}
		}
	}
}
