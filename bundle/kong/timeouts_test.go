package kong

import (
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
)

// Services have the timeouts of their environments, and the ledger says what Kong does otherwise.
func TestTimeouts(t *testing.T) {
	for name, tc := range map[string]struct {
		set                  snapshot.UpstreamTimeouts
		connect, read, write int
		keepalive, code      string
	}{
		"defaults": {
			snapshot.UpstreamTimeouts{}, 10_000, 60_000, 60_000, "4", "kong.upstream_timeouts.defaults",
		},
		"defaults that are set": {
			snapshot.UpstreamTimeouts{}.Stated(), 10_000, 60_000, 60_000, "4", "kong.upstream_timeouts.defaults",
		},
		"one read timeout": {
			snapshot.UpstreamTimeouts{ConnectMS: new(500), ResponseMS: new(90_000), IdleMS: new(90_000)},
			500, 90_000, 90_000, "4", "kong.upstream_timeouts.streams",
		},
		"only streams": {
			snapshot.UpstreamTimeouts{StreamIdleMS: new(60_000)}, 10_000, 60_000, 60_000, "4",
			"kong.upstream_timeouts.streams",
		},
		"a longer wait for responses": {
			snapshot.UpstreamTimeouts{ResponseMS: new(120_000)}, 10_000, 120_000, 60_000, "4",
			"kong.upstream_timeouts.read_timeout",
		},
		"longer pauses": {
			snapshot.UpstreamTimeouts{IdleMS: new(3_600_000), ResponseMS: new(1)}, 10_000, 3_600_000, 3_600_000, "4",
			"kong.upstream_timeouts.read_timeout",
		},
		"a part of a second": {
			snapshot.UpstreamTimeouts{ReuseIdleMS: new(1500)}, 10_000, 60_000, 60_000, "1",
			"kong.upstream_timeouts.streams",
		},
		"less than a second": {
			snapshot.UpstreamTimeouts{ReuseIdleMS: new(1)}, 10_000, 60_000, 60_000, "1",
			"kong.upstream_timeouts.streams",
		},
		"longer than the others": { // the shortest time applies to all
			snapshot.UpstreamTimeouts{ReuseIdleMS: new(3_600_000)}, 10_000, 60_000, 60_000, "4",
			"kong.upstream_timeouts.streams",
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			e := &in.Project.Versions[0].Environments[0]
			e.Upstream.Timeouts = tc.set
			files := write(t, in)
			service := gatewayOf(t, files).Services[0]
			got := timeouts{service.ConnectTimeout, service.ReadTimeout, service.WriteTimeout}
			if want := (timeouts{tc.connect, tc.read, tc.write}); got != want {
				t.Errorf("timeouts %+v, want %+v", got, want)
			}
			setting := "KONG_UPSTREAM_KEEPALIVE_IDLE_TIMEOUT: \"" + tc.keepalive + "\"\n"
			if compose := files["gateway/docker-compose.yaml"]; !strings.Contains(compose, setting) {
				t.Errorf("docker-compose.yaml lacks %q", setting)
			}
			for _, item := range ledgerOf(t, in) {
				if item.ID != "upstream_timeouts:"+e.ID {
					continue
				}
				stated := strings.Contains(item.Note, "At worst")
				if item.Code != tc.code || item.Status != bundle.Approximate || !stated {
					t.Errorf("the ledger says %s, %s: %s; want %s", item.Code, item.Status, item.Note, tc.code)
				}
				return
			}
			t.Error("the ledger has no item for the timeouts")
		})
	}
}
