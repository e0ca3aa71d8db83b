package app

import (
	"log/slog"
	"strings"
	"testing"

	"postern/platform/config"
)

func TestShare_descriptors(t *testing.T) {
	for name, tc := range map[string]struct {
		configured, eighths int
		descriptors         uint64
		want                int
	}{
		"gateway, many descriptors":  {16384, gatewayEighths, 1 << 20, 16384},
		"gateway, few descriptors":   {16384, gatewayEighths, 1024, 384},
		"gateway, number not known":  {16384, gatewayEighths, 0, 16384},
		"gateway, few are asked for": {100, gatewayEighths, 1024, 100},
		"control, few descriptors":   {1024, controlEighths, 1024, 128},
		"control, hardly any":        {1024, controlEighths, 7, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := share(tc.configured, tc.eighths, tc.descriptors); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
	if descriptors() == 0 {
		t.Error("the number of descriptors is not known here")
	}
	if got := callLimits(config.Config{MaxConns: 1 << 30}, 1024); got.Conns != 384 {
		t.Errorf("the gateway takes %d connections", got.Conns)
	}
}

func TestWarnOfShares(t *testing.T) {
	local := config.Config{
		MaxConns:    1 << 14,
		ControlAddr: "127.0.0.1:8080",
		GatewayAddr: "127.0.0.1:8090",
		PublicURL:   "http://127.0.0.1:8080",
		GatewayURL:  "http://127.0.0.1:8090",
	}
	for name, tc := range map[string]struct {
		config config.Config
		want   string // the listener that is named; "" for no line
	}{
		"both fit":          {config.Config{MaxConns: 384, ControlMaxConns: 128}, ""},
		"gateway has fewer": {config.Config{MaxConns: 385, ControlMaxConns: 128}, "listener=gateway connections=384"},
		"only this machine": {local, ""},
		"control has fewer": {config.Config{MaxConns: 384, ControlMaxConns: 129}, "listener=control connections=128"},
	} {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			tc.config.Roles = config.AllRoles
			warnOfShares(tc.config, 1024, slog.New(slog.NewTextHandler(&log, nil)))
			if !strings.Contains(log.String(), tc.want) || (tc.want == "") != (log.Len() == 0) {
				t.Errorf("logged %q, want %q", log.String(), tc.want)
			}
		})
	}
}
