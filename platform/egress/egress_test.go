package egress_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"postern/platform/egress"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newGuard(t *testing.T, o egress.Options) *egress.Guard {
	t.Helper()
	g, err := egress.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestDial_forbidden(t *testing.T) {
	if len(forbidden) < 60 {
		t.Fatalf("%d vectors, want at least 60", len(forbidden))
	}
	g := newGuard(t, egress.Options{})
	for _, address := range forbidden {
		for _, port := range []string{"80", "443", "6379"} {
			conn, err := g.DialContext(t.Context(), "tcp", net.JoinHostPort(address, port))
			if err == nil {
				_ = conn.Close()
			}
			if !errors.Is(err, egress.ErrForbidden) {
				t.Errorf("dial %s port %s: %v, want ErrForbidden", address, port, err)
			}
		}
	}
}

func TestDial_zones(t *testing.T) {
	g := newGuard(t, egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("fe80::/10")}})
	if _, err := g.DialContext(t.Context(), "tcp", "[fe80::1%lo]:80"); !errors.Is(err, egress.ErrForbidden) {
		t.Errorf("dial with a zone: %v, want ErrForbidden", err)
	}
}

func TestDial_allowedRanges(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "up")
	}))
	defer upstream.Close()
	dest := upstream.Listener.Addr().String()
	port := dest[strings.LastIndex(dest, ":")+1:]

	for _, tc := range []struct {
		name    string
		options egress.Options
		address string
		opened  bool
	}{
		{"nothing allowed", egress.Options{}, dest, false},
		{"loopback allowed", egress.Options{LoopbackAllowed: true}, dest, true},
		{"its range allowed", egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}, dest, true},
		{"another range allowed", egress.Options{
			Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		}, dest, false},
		{"unspecified is not loopback", egress.Options{LoopbackAllowed: true}, "0.0.0.0:" + port, false},
		{"mapped loopback is loopback", egress.Options{LoopbackAllowed: true}, "[::ffff:127.0.0.1]:" + port, true},
		{"our own listener", egress.Options{LoopbackAllowed: true, Listeners: []string{dest}}, dest, false},
		{"our own listener by another loopback address", egress.Options{
			LoopbackAllowed: true,
			Listeners:       []string{dest},
		}, "127.0.0.9:" + port, false},
		{"our own listener on every interface", egress.Options{
			LoopbackAllowed: true,
			Listeners:       []string{":" + port},
		}, dest, false},
		{"our own listener by name", egress.Options{
			LoopbackAllowed: true,
			Listeners:       []string{"localhost:" + port},
		}, dest, false},
		{"the port of another listener of ours", egress.Options{
			LoopbackAllowed: true,
			Listeners:       []string{"127.0.0.1:1"},
		}, dest, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			conn, err := newGuard(t, tc.options).DialContext(t.Context(), "tcp", tc.address)
			if err == nil {
				_ = conn.Close()
			}
			if opened := err == nil; opened != tc.opened {
				t.Errorf("dial %s: %v, want it opened: %v", tc.address, err, tc.opened)
			}
			if !tc.opened && !errors.Is(err, egress.ErrForbidden) {
				t.Errorf("dial %s: %v, want ErrForbidden", tc.address, err)
			}
		})
	}
}

func TestReaches(t *testing.T) {
	t.Parallel()
	g := newGuard(t, egress.Options{
		Allow: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")},
	})
	for addr, want := range map[string]bool{
		"10.1.2.3":        true,
		"::ffff:10.1.2.3": true,
		"fd00::1":         true,
		"8.8.8.8":         true,
		"10.2.0.1":        false,
		"127.0.0.1":       false,
		"fd00::1%lo":      false,
	} {
		if got := g.Reaches(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s: %t", addr, got)
		}
	}
}

func TestDial_loopbackAllowed(t *testing.T) {
	g := newGuard(t, egress.Options{LoopbackAllowed: true})
	for _, address := range []string{
		"10.0.0.1", "169.254.169.254", "192.168.1.1", "fd00::1", "64:ff9b::7f00:1", "::127.0.0.1",
	} {
		_, err := g.DialContext(t.Context(), "tcp", net.JoinHostPort(address, "80"))
		if !errors.Is(err, egress.ErrForbidden) {
			t.Errorf("dial %s: %v, want ErrForbidden", address, err)
		}
	}
}

func TestClient_redirects(t *testing.T) {
	var followed bool
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			followed = true
		}
		http.Redirect(w, r, "/other", http.StatusFound)
	}))
	defer upstream.Close()
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the proxy of the environment was used")
	}))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("http_proxy", proxy.URL)

	client := newGuard(t, egress.Options{LoopbackAllowed: true}).Client()
	defer client.CloseIdleConnections()
	resp, err := client.Get(upstream.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusFound {
		t.Errorf("status %d, want 302", resp.StatusCode)
	}
	if followed {
		t.Error("the redirect was followed")
	}
}

func TestClient_forbidden(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the forbidden server was called")
	}))
	defer upstream.Close()
	client := newGuard(t, egress.Options{}).Client()
	defer client.CloseIdleConnections()
	if _, err := client.Get(upstream.URL); !errors.Is(err, egress.ErrForbidden) {
		t.Errorf("get %s: %v, want ErrForbidden", upstream.URL, err)
	}
}

func TestNew_invalidListener(t *testing.T) {
	if _, err := egress.New(egress.Options{Listeners: []string{"8080"}}); err == nil {
		t.Error("a listener without a port was accepted")
	}
}

// A name is checked by what it resolves to at each connect, not by what it
// resolved to when the target was accepted.
func TestDial_rebinding(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the rebound name was called")
	}))
	defer upstream.Close()
	names := newNameServer(t)
	g := newGuard(t, egress.Options{Resolver: names.resolver()})

	names.answer("api.example.com.", "8.8.8.8")
	target := "http://api.example.com:" + upstream.URL[strings.LastIndex(upstream.URL, ":")+1:]
	if _, err := g.CheckTarget(t.Context(), target); err != nil {
		t.Fatalf("CheckTarget while the name is public: %v", err)
	}
	names.answer("api.example.com.", "127.0.0.1")
	client := &http.Client{Transport: g.Transport()}
	defer client.CloseIdleConnections()
	if _, err := client.Get(target); !errors.Is(err, egress.ErrForbidden) {
		t.Errorf("get after the name was rebound: %v, want ErrForbidden", err)
	}
	if names.lookups() < 2 {
		t.Errorf("the name was resolved %d times, want once for the check and once for the connect", names.lookups())
	}
}

func TestDial_canceled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := newGuard(t, egress.Options{}).DialContext(ctx, "tcp", "8.8.8.8:80")
	if !errors.Is(err, context.Canceled) {
		t.Errorf("dial with a canceled context: %v", err)
	}
}
