package access_test

import (
	"testing"

	"postern/access"
)

func TestWhomARequestCountsFor(t *testing.T) {
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
		if got := access.Source(from); got != want {
			t.Errorf("%q counts for %q, want %q", from, got, want)
		}
	}
}
