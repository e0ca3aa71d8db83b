package app

import (
	"log/slog"
	"strings"
	"testing"

	"postern/config"
)

func TestAQuarterOfTheDescriptorsIsNotForCallers(t *testing.T) {
	for _, tc := range []struct {
		configured  int
		descriptors uint64
		want        int
		told        bool
	}{
		{16384, 1 << 20, 16384, false}, {16384, 1024, 768, true}, {16384, 0, 16384, false}, {100, 1024, 100, false},
	} {
		var log strings.Builder
		got := callers(config.Config{MaxConns: tc.configured}, tc.descriptors, slog.New(slog.NewTextHandler(&log, nil)))
		if got.Conns != tc.want || (log.Len() > 0) != tc.told {
			t.Errorf("%d of %d descriptors: %d, log %q", tc.configured, tc.descriptors, got.Conns, log.String())
		}
	}
	if descriptors() == 0 {
		t.Error("the number of descriptors is not known here")
	}
}
