package egress

import (
	"net/netip"
	"testing"
)

// TestCanBind checks what stands for the list of interfaces where a sandbox hides it. 192.0.2.1 is reserved for
// documentation (RFC 5737).
func TestCanBind(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"127.0.0.1": true, "192.0.2.1": false} {
		if got := canBind(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %t, want %t", address, got, want)
		}
	}
}
