package usage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/usage"
	"postern/testkit/state"
)

func TestUsage_grouped(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		noon := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
		for _, at := range []time.Time{noon, noon, noon.Add(time.Hour), noon.Add(12 * time.Hour)} {
			w.Recorder.Observe(w.call(at))
		}
		w.Recorder.Observe(w.refused(noon))
		gone, tunnel := w.call(noon), w.call(noon)
		gone.EnvironmentID, gone.Status = "env_gone", 0
		tunnel.Status = 101
		w.Recorder.Observe(gone)
		w.Recorder.Observe(tunnel)

		hour := func(h int) time.Time { return time.Date(2026, 11, 20, h, 0, 0, 0, time.UTC) }
		good, bad := contract.UsageSums{Calls: 1, BytesIn: 1, BytesOut: 10}, contract.UsageSums{Calls: 1, BytesOut: 10}
		times := func(n int64, s contract.UsageSums) contract.UsageSums {
			return contract.UsageSums{Calls: n * s.Calls, BytesIn: n * s.BytesIn, BytesOut: n * s.BytesOut}
		}
		plus := func(a, b contract.UsageSums) contract.UsageSums {
			return contract.UsageSums{
				Calls:    a.Calls + b.Calls,
				BytesIn:  a.BytesIn + b.BytesIn,
				BytesOut: a.BytesOut + b.BytesOut,
			}
		}
		environment := func(id, name, version string) *contract.UsageEnvironment {
			return &contract.UsageEnvironment{ID: id, Name: name, Version: version}
		}
		for by, want := range map[string][]contract.UsageGroup{
			"": {{UsageSums: plus(times(6, good), bad)}},
			"hour": {
				{Hour: new(hour(12)), UsageSums: plus(times(4, good), bad)},
				{Hour: new(hour(13)), UsageSums: good},
				{Hour: new(hour(24)), UsageSums: good},
			},
			"day": {
				{Day: new("2026-11-20"), UsageSums: plus(times(5, good), bad)},
				{Day: new("2026-11-21"), UsageSums: good},
			},
			"environment": {
				{Environment: environment("env_prod", "prod", "1.0.0"), UsageSums: plus(times(5, good), bad)},
				{Environment: environment("env_gone", "env_gone", ""), UsageSums: good},
			},
			"owner": {{Owner: new("billing"), UsageSums: times(6, good)}, {Owner: new(""), UsageSums: bad}},
			"key":   {{Key: &w.key.ID, UsageSums: times(6, good)}, {Key: new(""), UsageSums: bad}},
			"route": {{Route: new("/*"), UsageSums: plus(times(6, good), bad)}},
			"status_class": {
				{StatusClass: new("2xx"), UsageSums: times(4, good)},
				{StatusClass: new(""), UsageSums: good},
				{StatusClass: new("1xx"), UsageSums: good},
				{StatusClass: new("4xx"), UsageSums: bad},
			},
		} {
			got := w.ask(contract.UsageQuery{From: noon, To: noon.Add(13 * time.Hour), GroupBy: strings.Fields(by)})
			for i := range got.Items {
				got.Items[i].Latency = nil
			}
			if diff := cmp.Diff(want, got.Items); diff != "" {
				t.Errorf("by %q (-want +got):\n%s", by, diff)
			}
			if got.Total != plus(times(6, good), bad) || !got.From.Equal(hour(12)) || !got.To.Equal(hour(26)) {
				t.Errorf("by %q: total %+v from %v to %v", by, got.Total, got.From, got.To)
			}
		}
		later := contract.UsageQuery{From: noon.Add(time.Hour), To: noon.Add(2 * time.Hour)}
		if got := w.ask(later); got.Total.Calls != 1 {
			t.Errorf("the hours 13 and 14 have %+v", got.Total)
		}
		if got := w.ask(contract.UsageQuery{To: hour(36)}); got.Total.Calls != 7 || !got.From.Equal(hour(12)) {
			t.Errorf("the day until then has %+v from %v", got.Total, got.From)
		}
	})
}

func TestUsage_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := time.Now()
		for code, q := range map[string]contract.UsageQuery{
			"invalid_range":    {From: now, To: now.Add(-2 * time.Hour)},
			"range_too_long":   {From: now.Add(-367 * 24 * time.Hour)},
			"invalid_group_by": {GroupBy: []string{"path"}},
			"too_many_groups":  {GroupBy: []string{"owner"}},
		} {
			if code == "too_many_groups" {
				rows := make([]models.UsageHour, usage.MaxItems+1)
				for i := range rows {
					rows[i] = models.UsageHour{
						ProjectID: w.project.ID,
						Hour:      now.Unix() / 3600,
						Owner:     models.NewID("own"),
						Calls:     1,
					}
				}
				if err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.AddUsage(rows) }); err != nil {
					t.Fatal(err)
				}
			}
			q.ProjectPath = shop
			_, err := w.Usage(t.Context(), w.owner, q)
			if fault.KindOf(err) != fault.Invalid || fault.CodeOf(err) != code {
				t.Errorf("%s: got %v", code, err)
			}
		}
		if top := w.ask(contract.UsageQuery{GroupBy: []string{"owner"}, Top: 3}); len(top.Items) != 3 || !top.More {
			t.Errorf("the first three: %+v", top)
		}
		for _, by := range [][]string{{"hour", "day"}, {"owner", "owner"}, {"hour; DROP TABLE usage_hours"}} {
			_, err := w.Usage(t.Context(), w.owner, contract.UsageQuery{ProjectPath: shop, GroupBy: by})
			if fault.CodeOf(err) != "invalid_group_by" {
				t.Errorf("%v: got %v", by, err)
			}
		}
	})
}
