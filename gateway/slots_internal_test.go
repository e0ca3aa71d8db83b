package gateway

import (
	"net/netip"
	"testing"
)

// A caller that comes back finds its share, and addresses that are gone leave few behind.
func TestSlots_fewShares(t *testing.T) {
	var s slots
	network := func(n byte) netip.Prefix { return netip.PrefixFrom(netip.AddrFrom4([4]byte{192, 0, 2, n}), 32) }
	first := s.share(network(0))
	first.release()
	if s.share(network(0)) != first {
		t.Error("the only caller gets another share")
	}
	var held []*share
	for n := range byte(20) {
		held = append(held, s.share(network(n)))
	}
	for _, one := range held {
		one.release()
	}
	first.release()
	if n := len(s.shares); n > keptShares {
		t.Errorf("%d shares are kept, want at most %d", n, keptShares)
	}
	for _, one := range s.shares {
		if one.holders != 0 || one.inProgress.Load() != 0 {
			t.Errorf("a share that no one has: %d holders, %d calls", one.holders, one.inProgress.Load())
		}
	}
}
