package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"postern/client"
	"postern/core/contract"
	"postern/testkit"
)

// lossy stands before a server and loses its first answers to changes, after the
// server has carried them out: by cutting the connection, or by answering 502 or 503.
func lossy(t *testing.T, server string, lose func(http.ResponseWriter)) (address string, dropped *atomic.Int64) {
	t.Helper()
	dropped = &atomic.Int64{}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		onward, err := http.NewRequestWithContext(r.Context(), r.Method, server+r.URL.RequestURI(), r.Body)
		if err != nil {
			t.Error(err)
			return
		}
		onward.Header = r.Header.Clone()
		answer, err := http.DefaultTransport.RoundTrip(onward)
		if err != nil {
			t.Error(err)
			return
		}
		defer answer.Body.Close()
		if r.Method == http.MethodPost && dropped.Add(1) <= 2 {
			lose(w)
			return
		}
		w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		w.WriteHeader(answer.StatusCode)
		_, _ = io.Copy(w, answer.Body)
	}))
	t.Cleanup(front.Close)
	return front.URL, dropped
}

func TestDo_lostAnswer(t *testing.T) {
	server := start(t)
	api, proxy := workspace(t, server)
	for name, lose := range testkit.ByName(map[string]func(http.ResponseWriter){
		"cut": func(w http.ResponseWriter) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			conn.Close()
		},
		"bad gateway": func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) },
		"busy": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
		},
	}) {
		t.Run(name, func(t *testing.T) {
			before := count(t, api)
			front, sent := lossy(t, server, lose)
			behind := connect(t, front, proxy.WorkspaceKey.Reveal())
			key, err := client.Do(t.Context(), behind, contract.CreateKey, contract.NewKey{Owner: "billing"}.In("shop"))
			if err != nil {
				t.Fatal(err)
			}
			if key.Secret == "" {
				t.Error("the answer holds no key")
			}
			if created := count(t, api) - before; created != 1 {
				t.Errorf("%d keys were created, want 1", created)
			}
			if sent.Load() != 3 {
				t.Errorf("the request was sent %d times, want 3", sent.Load())
			}
		})
	}
}

func count(t *testing.T, api *client.Client) (n int) {
	t.Helper()
	for _, err := range client.Each(t.Context(), api, contract.ListKeys, keysOf("shop")) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
