package policy_test

import (
	"net/netip"
	"testing"

	"postern/core/policy"
)

func TestClientAddress(t *testing.T) {
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, tc := range []struct {
		hop   string
		lines []string
		want  string
	}{
		{"192.0.2.1", nil, "192.0.2.1"},
		{"192.0.2.1", []string{"198.51.100.7"}, "192.0.2.1"}, // the hop is not trusted
		{"192.0.2.1", []string{"198.51.100.7, 10.0.0.1"}, "192.0.2.1"},
		{"10.0.0.1", nil, "10.0.0.1"},
		{"10.0.0.1", []string{""}, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1", []string{"198.51.100.7, 10.0.0.2"}, "198.51.100.7"},
		{"10.0.0.1", []string{"1.1.1.1, 198.51.100.7"}, "198.51.100.7"}, // 1.1.1.1 is invented by the client
		{"10.0.0.1", []string{"1.1.1.1, 198.51.100.7, 10.0.0.2,10.0.0.3"}, "198.51.100.7"},
		{"10.0.0.1", []string{"1.1.1.1", "198.51.100.7"}, "198.51.100.7"},
		{"10.0.0.1", []string{"1.1.1.1, 198.51.100.7", "10.0.0.2"}, "198.51.100.7"},
		{"10.0.0.1", []string{"10.0.0.9, 10.0.0.2"}, "10.0.0.9"},
		{"10.0.0.1", []string{"1.1.1.1, unknown"}, "10.0.0.1"},
		{"10.0.0.1", []string{"1.1.1.1, , 10.0.0.2"}, "10.0.0.2"},
		{"10.0.0.1", []string{"1.1.1.1,"}, "10.0.0.1"},
		{"10.0.0.1", []string{"198.51.100.7:4711"}, "198.51.100.7"},
		{"10.0.0.1", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		{"10.0.0.1", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"10.0.0.1", []string{"2001:db8::1%eth0"}, "2001:db8::1"},
		{"::ffff:10.0.0.1", []string{"::ffff:198.51.100.7"}, "198.51.100.7"},
		{"fd00::1", []string{"2001:db8::1\t,  fd00::2 "}, "2001:db8::1"},
	} {
		if got := policy.ClientAddress(netip.MustParseAddr(tc.hop), tc.lines, trusted).String(); got != tc.want {
			t.Errorf("ClientAddress(%s, %q) = %s, want %s", tc.hop, tc.lines, got, tc.want)
		}
	}
}
