package policy_test

import (
	"testing"

	"postern/core/policy"
)

func TestSource(t *testing.T) {
	for from, want := range map[string][2]string{
		"192.0.2.7:4711":                 {"192.0.2.7/32", "192.0.2.0/24"},
		"[::ffff:192.0.2.7]:1":           {"192.0.2.7/32", "192.0.2.0/24"},
		"[2001:db8:1:2:ffff::1%eth0]:80": {"2001:db8:1:2::/64", "2001:db8:1::/48"},
		"2001:db8:1:3::1":                {"2001:db8:1:3::/64", "2001:db8:1::/48"},
		"nowhere:1":                      {"invalid Prefix", "invalid Prefix"},
		"":                               {"invalid Prefix", "invalid Prefix"},
	} {
		own, wider := policy.Source(from)
		if got := [2]string{own.String(), wider.String()}; got != want {
			t.Errorf("%q counts for %v, want %v", from, got, want)
		}
	}
}

func TestSourceName(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.7:4711":                 "192.0.2.7",
		"192.0.2.7":                      "192.0.2.7",
		"[::ffff:192.0.2.7]:1":           "192.0.2.7",
		"[2001:db8:1:2:3:4:5:6]:1":       "2001:db8:1:2::/64",
		"[2001:db8:1:2:ffff::1%eth0]:80": "2001:db8:1:2::/64",
		"2001:db8:1:3::1":                "2001:db8:1:3::/64",
		"":                               "",
		"nowhere":                        "nowhere",
	} {
		if got := policy.SourceName(from); got != want {
			t.Errorf("%q counts for %q, want %q", from, got, want)
		}
	}
}
