package egress_test

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"postern/platform/egress"
	"postern/platform/fault"
)

func TestCheckTarget_portsOfOtherProtocols(t *testing.T) {
	private := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for _, tc := range []struct {
		name    string
		options egress.Options
		host    string
		ports   []int
		code    string // empty: accepted
	}{
		{
			"public address",
			egress.Options{},
			"8.8.8.8",
			[]int{21, 22, 23, 25, 53, 110, 389, 445, 465, 587, 3306, 5432, 6379, 6667, 11211, 27017},
			egress.CodePort,
		},
		{
			"public address, ports that HTTP is served at",
			egress.Options{},
			"8.8.8.8",
			[]int{80, 443, 3000, 5000, 8000, 8080, 8443, 9200, 10443},
			"",
		},
		{"another range opened", egress.Options{Allow: private}, "8.8.8.8", []int{22, 6379}, egress.CodePort},
		{"opened range", egress.Options{Allow: private}, "10.1.2.3", []int{22, 6000, 6379}, ""},
		{"loopback opened", egress.Options{LoopbackAllowed: true}, "127.0.0.1", []int{22, 6000, 6379}, ""},
		{"private address", egress.Options{}, "10.1.2.3", []int{22, 6379}, egress.CodeForbidden},
	} {
		g := newGuard(t, tc.options)
		for _, port := range tc.ports {
			t.Run(fmt.Sprintf("%s/%d", tc.name, port), func(t *testing.T) {
				_, err := g.CheckTarget(t.Context(), fmt.Sprintf("http://%s:%d", tc.host, port))
				var code string
				if refusal, ok := errors.AsType[*fault.Error](err); ok {
					code = refusal.Code
				} else if err != nil {
					t.Fatal(err)
				}
				if code != tc.code {
					t.Errorf("code %q, want %q", code, tc.code)
				}
			})
		}
	}
}

// A target saved while its port was allowed is checked again when it is dialed.
func TestDialContext_portOfOtherProtocol(t *testing.T) {
	g := newGuard(t, egress.Options{})
	if _, err := g.DialContext(t.Context(), "tcp", "8.8.8.8:25"); !errors.Is(err, egress.ErrForbidden) {
		t.Errorf("dial: %v, want ErrForbidden", err)
	}
}

func TestCheckTarget_openedPlatformAddress(t *testing.T) {
	g := newGuard(t, egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}})
	if _, err := g.CheckTarget(t.Context(), "http://168.63.129.16"); err != nil {
		t.Errorf("an address that the operator opened: %v", err)
	}
}
