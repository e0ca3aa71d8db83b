package app

import (
	"log/slog"
	"strings"
	"testing"

	"postern/config"
)

func TestShareLeavesDescriptorsForOthers(t *testing.T) {
	for name, tc := range map[string]struct {
		configured, eighths int
		descriptors         uint64
		want                int
		logged              bool
	}{
		"gateway, many descriptors":  {16384, gatewayEighths, 1 << 20, 16384, false},
		"gateway, few descriptors":   {16384, gatewayEighths, 1024, 384, true},
		"gateway, number not known":  {16384, gatewayEighths, 0, 16384, false},
		"gateway, few are asked for": {100, gatewayEighths, 1024, 100, false},
		"control, few descriptors":   {1024, controlEighths, 1024, 128, true},
		"control, hardly any":        {1024, controlEighths, 7, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			got := share("x", tc.configured, tc.eighths, tc.descriptors, slog.New(slog.NewTextHandler(&log, nil)))
			if got != tc.want || (log.Len() > 0) != tc.logged {
				t.Errorf("got %d, log %q; want %d", got, log.String(), tc.want)
			}
		})
	}
	if descriptors() == 0 {
		t.Error("the number of descriptors is not known here")
	}
	if got := callers(config.Config{MaxConns: 1 << 30}, 1024, slog.New(slog.DiscardHandler)); got.Conns != 384 {
		t.Errorf("the gateway takes %d connections", got.Conns)
	}
}
