package egress_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"postern/platform/egress"
	"postern/testkit/ports"
)

// TestReason uses the errors of real connections, because Reason inspects the standard library's errors.
func TestReason(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	demands := httptest.NewUnstartedServer(http.NotFoundHandler())
	demands.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	demands.StartTLS()
	defer demands.Close()
	g, err := egress.New(egress.Options{LoopbackAllowed: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ url, want string }{
		"an unknown authority":   {secure.URL, "authority that isn't trusted"},
		"no TLS":                 {"https://" + plain.Listener.Addr().String(), "doesn't use TLS"},
		"a client certificate":   {demands.URL, "refuses the TLS handshake (tls: "},
		"nothing listens":        {"http://" + ports.Address(t), "refuses connections on that port"},
		"a private address":      {"http://10.0.0.1", "that isn't allowed"},
		"another protocol":       {"http://93.184.215.14:25", "a protocol other than HTTP"},
		"a name without records": {"http://nothing.invalid", "doesn't resolve to an IP address"},
	} {
		t.Run(name, func(t *testing.T) {
			transport := g.Transport()
			defer transport.CloseIdleConnections()
			if name == "a client certificate" {
				transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
			}
			ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
			defer stop()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, tt.url, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = transport.RoundTrip(request)
			if got := egress.Reason(err); err == nil || !strings.Contains(got, tt.want) {
				t.Errorf("Reason(%v) = %q, want %q", err, got, tt.want)
			}
			if got := egress.Reason(err); strings.Contains(got, "127.0.0.1") || strings.Contains(got, "10.0.0.1") {
				t.Errorf("it names an address: %q", got)
			}
		})
	}
	t.Run("too late", func(t *testing.T) {
		if got := egress.Reason(context.DeadlineExceeded); !strings.Contains(got, "in time") {
			t.Error(got)
		}
	})
	t.Run("anything else", func(t *testing.T) {
		if got := egress.Reason(errors.New("10.0.0.1 is odd")); strings.Contains(got, "10.0.0.1") {
			t.Error(got)
		}
	})
}
