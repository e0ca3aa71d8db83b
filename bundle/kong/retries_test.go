package kong

import (
	"strings"
	"testing"

	"postern/bundle"
	"postern/core/snapshot"
)

// Services have the retries of their environments, and the ledger says what Kong does otherwise.
func TestRetries(t *testing.T) {
	on := func(all ...snapshot.RetryCondition) *[]snapshot.RetryCondition { return &all }
	for name, tc := range map[string]struct {
		set    snapshot.UpstreamRetries
		want   int
		code   string
		status bundle.Status
	}{
		"defaults":              {snapshot.UpstreamRetries{}, 1, "defaults", bundle.Approximate},
		"defaults that are set": {snapshot.UpstreamRetries{}.Stated(), 1, "defaults", bundle.Approximate},
		"more":                  {snapshot.UpstreamRetries{Max: new(3)}, 3, "timeout", bundle.Approximate},
		"none": {
			snapshot.UpstreamRetries{Max: new(0), On: on("503", "timeout")}, 0, "none", bundle.Exact,
		},
		"timeout": {snapshot.UpstreamRetries{On: on("timeout")}, 1, "conditions", bundle.Exact},
		"a status": {
			snapshot.UpstreamRetries{Max: new(10), On: on("503")}, 10, "statuses_without_timeout", bundle.Lossy,
		},
		"both": {snapshot.UpstreamRetries{On: on("timeout", "502")}, 1, "statuses", bundle.Lossy},
	} {
		t.Run(name, func(t *testing.T) {
			in := sampleInput()
			e := &in.Project.Versions[0].Environments[0]
			e.Upstream.Retries = tc.set
			if got := gatewayOf(t, write(t, in)).Services[0].Retries; got != tc.want {
				t.Errorf("retries: %d, want %d", got, tc.want)
			}
			for _, item := range ledgerOf(t, in) {
				if item.ID != "upstream_retries:"+e.ID {
					continue
				}
				if item.Code != "kong.upstream_retries."+tc.code || item.Status != tc.status {
					t.Errorf("the ledger says %s, %s; want %s", item.Code, item.Status, tc.code)
				}
				if tc.status != bundle.Exact && !strings.Contains(item.Note, "At worst") {
					t.Errorf("no worst case: %s", item.Note)
				}
				return
			}
			t.Error("the ledger has no item for the retries")
		})
	}
}
