package usage_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postern/core/contract"
	"postern/models"
	"postern/service/usage"
	"postern/testkit/state"
)

// calls observes n calls that took as long as given.
func (w *world) calls(at time.Time, n int, firstByte, total time.Duration) {
	for range n {
		call := w.call(at)
		call.FirstByte, call.Duration = firstByte, total
		w.Recorder.Observe(call)
	}
}

func (w *world) traffic(period time.Duration, from time.Time) usage.Series {
	w.t.Helper()
	series, err := w.Traffic(w.t.Context(), w.owner, "shop", period, from)
	if err != nil {
		w.t.Fatal(err)
	}
	return series
}

func isAbout(got, want time.Duration) bool { return got > want*7/8 && got < want*9/8 }

func TestTraffic(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := time.Now().UTC()
		w.calls(now, 90, 5*time.Millisecond, 10*time.Millisecond)
		w.Recorder.Observe(w.refused(now))
		if got := w.traffic(time.Minute, now.Add(-time.Hour)).Sum; got.Answered != 90 || got.Rejected != 1 {
			t.Errorf("%d answered, %d rejected, want 90 and 1", got.Answered, got.Rejected)
		}
		w.calls(now, 10, 100*time.Millisecond, time.Second) // merged with the row
		tunnel, failed := w.call(now), w.call(now)
		tunnel.Status, tunnel.Duration = 101, time.Hour
		failed.Status, failed.Code = 502, "upstream_unreachable"
		w.Recorder.Observe(tunnel)
		w.Recorder.Observe(failed)
		for _, period := range []time.Duration{time.Minute, time.Hour, 24 * time.Hour} {
			series := w.traffic(period, now.Truncate(period))
			if len(series.Points) != 1 || !series.Points[0].Since.Equal(now.Truncate(period)) {
				t.Fatalf("by %v: points %+v", period, series.Points)
			}
			got := series.Points[0]
			if got.Answered != 101 || got.Rejected != 1 || got.Failed != 1 || got.Calls() != 103 || got.BytesIn != 102 {
				t.Errorf("by %v: %+v", period, got)
			}
			if got.Refused() != 1 || got.RejectedHere != 1 {
				t.Errorf("by %v: %d refused, want the one that the upstream didn't see: %+v",
					period, got.Refused(), got)
			}
			if !isAbout(got.FirstByte.P50, 5*time.Millisecond) || !isAbout(got.FirstByte.P95, 100*time.Millisecond) {
				t.Errorf("by %v: first byte %v", period, got.FirstByte)
			}
			if !isAbout(got.Total.P50, 10*time.Millisecond) || !isAbout(got.Total.P95, time.Second) {
				t.Errorf("by %v: total %v", period, got.Total)
			}
		}
	})
}

// TestTraffic_refused counts a refusal as one of Postern unless the upstream was forwarded, whatever its step.
func TestTraffic_refused(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := time.Now()
		var rejected, failed int64
		for _, tc := range []struct {
			status     int
			code, step string
			forwarded  bool
		}{
			{401, "invalid_key", "access", false},
			{429, "rate_limited", "limits", false},
			{422, "invalid_request", "validate", false},
			{413, "body_too_large", "forward", false},
			{429, "rate_limited", "forward", false},
			{502, "upstream_unreachable", "forward", false},
			{503, "provider_token_unavailable", "forward", false},
			{503, "busy", "forward", false},
			{508, "loop_detected", "forward", false},
			{404, "", "forward", true},
			{500, "", "forward", true},
			{413, "body_too_large", "forward", true},
			{502, "upstream_unreachable", "forward", true},
			{504, "upstream_timeout", "forward", true},
			{499, "", "forward", false}, // the caller left, so no one refused it
		} {
			call := w.call(now)
			call.Status, call.Code, call.Step, call.Forwarded = tc.status, tc.code, tc.step, tc.forwarded
			w.Recorder.Observe(call)
			switch {
			case tc.forwarded || tc.code == "":
			case tc.status < 500:
				rejected++
			default:
				failed++
			}
		}
		got := w.traffic(time.Hour, now.Add(-time.Hour)).Sum
		if got.RejectedHere != rejected || got.FailedHere != failed || got.Refused() != 9 || got.Calls() != 15 {
			t.Errorf("%+v, want %d and %d refused by Postern", got, rejected, failed)
		}
	})
}

func TestTraffic_sumOfReplicas(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		other := w.recorder()
		now := time.Now()
		w.calls(now, 3, time.Millisecond, time.Millisecond)
		for range 4 {
			other.Observe(w.call(now))
		}
		if err := other.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.traffic(time.Hour, now.Add(-time.Hour)).Sum.Calls(); got != 7 {
			t.Errorf("%d calls, want 7", got)
		}
		overviews, err := w.Overviews(t.Context(), w.owner, []string{w.project.ID}, now.Add(-time.Hour))
		if err != nil || overviews[w.project.ID].Sum.Calls() != 7 {
			t.Errorf("overview %+v, %v", overviews, err)
		}
	})
}

func TestUsage_latency(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		noon := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
		w.calls(noon, 10, 5*time.Millisecond, 10*time.Millisecond)
		w.calls(noon.Add(-24*time.Hour), 10, 5*time.Millisecond, 10*time.Millisecond)
		slow := w.call(noon)
		slow.Route, slow.Duration = "/slow/{id}", time.Second
		w.Recorder.Observe(slow)
		for _, from := range []time.Time{noon, noon.Add(-72 * time.Hour)} {
			in := contract.UsageQuery{From: from, To: noon.Add(72 * time.Hour), GroupBy: []string{"route"}}
			for _, g := range w.ask(in).Items {
				want := map[string]time.Duration{"/*": 10 * time.Millisecond, "/slow/{id}": time.Second}[*g.Route]
				if g.Latency == nil || !isAbout(g.Latency.Total.P95.Duration(), want) {
					t.Errorf("from %v: %s took %+v, want %v", from, *g.Route, g.Latency, want)
				}
			}
		}
		days := w.ask(contract.UsageQuery{
			From: noon.Add(-72 * time.Hour), To: noon, GroupBy: []string{"day", "environment"},
		}).Items
		if len(days) != 2 || days[0].Latency == nil || days[1].Latency == nil {
			t.Errorf("by day: %+v", days)
		}
		owners := w.ask(contract.UsageQuery{From: noon, To: noon.Add(time.Hour), GroupBy: []string{"owner"}})
		if owners.Items[0].Latency != nil {
			t.Error("owners have latencies, which are not measured")
		}
	})
}

func TestUsage_byTenant(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := time.Now()
		w.calls(now, 3, 0, time.Millisecond)
		w.Recorder.Observe(w.refused(now))
		got := w.ask(contract.UsageQuery{GroupBy: []string{"tenant"}}).Items
		if len(got) != 2 || got[0].Tenant.Name != "default" || got[0].Calls != 3 || got[1].Tenant.ID != "" ||
			got[1].Calls != 1 {
			t.Errorf("got %+v", got)
		}
		got = w.ask(contract.UsageQuery{GroupBy: []string{"tenant", "key", "day"}}).Items
		if len(got) != 2 || got[0].Tenant.Name != "default" || *got[0].Key != w.key.ID {
			t.Errorf("with keys and days: %+v", got)
		}
	})
}

func TestFold(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		noon := time.Date(2026, 10, 20, 12, 30, 0, 0, time.UTC)
		for day := range 20 {
			at := noon.Add(time.Duration(day) * 25 * time.Hour)
			w.calls(at, day+1, time.Millisecond, 10*time.Millisecond)
			w.Recorder.Observe(w.refused(at))
		}
		// A replica without traffic counts these.
		old := models.UsageHour{
			ProjectID:     w.project.ID,
			Hour:          noon.Unix() / 3600,
			EnvironmentID: "env_prod",
			Route:         "/*",
			StatusClass:   5,
			Calls:         100,
		}
		err := db.Write(t.Context(), func(tx *models.Tx) error { return tx.AddUsage([]models.UsageHour{old}) })
		if err != nil {
			t.Fatal(err)
		}
		queries := []contract.UsageQuery{
			{From: noon, To: noon.Add(30 * 24 * time.Hour)},
			{From: noon, To: noon.Add(30 * 24 * time.Hour), GroupBy: []string{"day"}},
			{From: noon, To: noon.Add(9*24*time.Hour + 3*time.Hour), GroupBy: []string{"key", "owner"}},
			{From: noon.Add(25 * time.Hour), To: noon.Add(26 * time.Hour), GroupBy: []string{"route"}},
			{From: noon, To: noon.Add(30 * 24 * time.Hour), GroupBy: []string{"hour", "status_class", "environment"}},
			{From: noon, To: noon.Add(30 * 24 * time.Hour), GroupBy: []string{"tenant"}, Top: 1},
		}
		var before []contract.Usage
		for _, q := range queries {
			before = append(before, w.ask(q))
		}
		now := noon.Add(30 * 24 * time.Hour)
		for range 10 {
			if _, err := w.Recorder.Fold(t.Context(), now, 100); err != nil {
				t.Fatal(err)
			}
		}
		for i, q := range queries {
			if diff := cmp.Diff(before[i], w.ask(q)); diff != "" {
				t.Errorf("folding changes the answer to %+v (-before +after):\n%s", q, diff)
			}
		}
		want := int64(20*21/2 + 20 + 100)
		day := w.traffic(24*time.Hour, noon.Add(-24*time.Hour))
		if day.Sum.Calls() != want || day.Points[0].Failed != 100 || !isAbout(day.Sum.Total.P95, 10*time.Millisecond) {
			t.Errorf("traffic has %d calls, want %d: %+v", day.Sum.Calls(), want, day.Points[0])
		}

		w.calls(noon, 1, 0, time.Hour) // ends long after its day is folded
		if got := w.ask(queries[0]).Total.Calls; got != want+1 {
			t.Errorf("%d calls with the late one, want %d", got, want+1)
		}
		if got := w.traffic(24*time.Hour, noon.Add(-24*time.Hour)).Sum.Calls(); got != want+1 {
			t.Errorf("traffic has %d calls with the late one, want %d", got, want+1)
		}
	})
}

func TestFold_shortMinutes(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		w := newWorld(t, db)
		now := time.Now()
		w.calls(now.Add(-4*time.Hour), 1, 0, time.Millisecond)
		w.calls(now, 1, 0, time.Millisecond)
		from := now.Add(-24 * time.Hour)
		if got := w.traffic(time.Minute, from).Points; len(got) != 2 {
			t.Fatalf("%d minutes, want 2", len(got))
		}
		if _, err := w.Recorder.Fold(t.Context(), now, 100); err != nil {
			t.Fatal(err)
		}
		if got := w.traffic(time.Minute, from).Points; len(got) != 1 {
			t.Errorf("%d minutes, want 1", len(got))
		}
	})
}
