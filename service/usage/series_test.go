package usage_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/models"
	"postern/platform/fault"
	"postern/service/usage"
	"postern/testkit/state"
)

func TestUsageIsGrouped(t *testing.T) {
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
		good, bad := usage.Sums{Calls: 1, BytesIn: 1, BytesOut: 10}, usage.Sums{Calls: 1, BytesOut: 10}
		times := func(n int64, s usage.Sums) usage.Sums {
			return usage.Sums{Calls: n * s.Calls, BytesIn: n * s.BytesIn, BytesOut: n * s.BytesOut}
		}
		plus := func(a, b usage.Sums) usage.Sums {
			return usage.Sums{
				Calls:    a.Calls + b.Calls,
				BytesIn:  a.BytesIn + b.BytesIn,
				BytesOut: a.BytesOut + b.BytesOut,
			}
		}
		for by, want := range map[string][]usage.Group{
			"": {{Sums: plus(times(6, good), bad)}},
			"hour": {{
				Since: hour(12),
				Sums:  plus(times(4, good), bad),
			}, {Since: hour(13), Sums: good}, {Since: hour(24), Sums: good}},
			"day": {{Since: hour(0), Sums: plus(times(5, good), bad)}, {Since: hour(24), Sums: good}},
			"environment": {{
				Environment: usage.Place{ID: "env_prod", Name: "prod", Version: "1.0.0"},
				Sums:        plus(times(5, good), bad),
			}, {Environment: usage.Place{ID: "env_gone", Name: "env_gone"}, Sums: good}},
			"owner": {{Owner: "billing", Sums: times(6, good)}, {Sums: bad}},
			"key":   {{Key: w.key.ID, Sums: times(6, good)}, {Sums: bad}},
			"route": {{Route: "/*", Sums: plus(times(6, good), bad)}},
			"status_class": {{StatusClass: "2xx", Sums: times(4, good)}, {Sums: good}, {StatusClass: "1xx", Sums: good},
				{StatusClass: "4xx", Sums: bad}},
		} {
			q := usage.Query{From: noon, To: noon.Add(13 * time.Hour), GroupBy: strings.Fields(by)}
			got := w.ask(q)
			for i := range got.Groups {
				got.Groups[i].Latency = nil
			}
			if diff := cmp.Diff(want, got.Groups); diff != "" {
				t.Errorf("by %q (-want +got):\n%s", by, diff)
			}
			if got.Total != plus(times(6, good), bad) || !got.From.Equal(hour(12)) || !got.To.Equal(hour(26)) {
				t.Errorf("by %q: total %+v from %v to %v", by, got.Total, got.From, got.To)
			}
		}
		if got := w.ask(usage.Query{From: noon.Add(time.Hour), To: noon.Add(2 * time.Hour)}); got.Total.Calls != 1 {
			t.Errorf("the hours 13 and 14 have %+v", got.Total)
		}
		if got := w.ask(usage.Query{To: hour(36)}); got.Total.Calls != 7 || !got.From.Equal(hour(12)) {
			t.Errorf("the day until then has %+v from %v", got.Total, got.From)
		}
	})
}

func TestQuestionsThatAreRefused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := time.Now()
		for code, q := range map[string]usage.Query{
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
			_, err := w.Usage(t.Context(), w.owner, "shop", q)
			if fault.KindOf(err) != fault.Invalid || fault.CodeOf(err) != code {
				t.Errorf("%s: got %v", code, err)
			}
		}
		top, err := w.Usage(t.Context(), w.owner, "shop", usage.Query{GroupBy: []string{"owner"}, Top: 3})
		if err != nil || len(top.Groups) != 3 || !top.More {
			t.Errorf("the first three: %+v, %v", top, err)
		}
		for _, by := range [][]string{{"hour", "day"}, {"owner", "owner"}, {"hour; DROP TABLE usage_hours"}} {
			_, err := w.Usage(t.Context(), w.owner, "shop", usage.Query{GroupBy: by})
			if fault.CodeOf(err) != "invalid_group_by" {
				t.Errorf("%v: got %v", by, err)
			}
		}
	})
}
