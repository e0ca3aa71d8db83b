package usage

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"postern/models"
)

// trafficEvery is how often sums and latencies by time and route are written. They are kept apart from hourly rows,
// which have an owner and a key: a kill loses at most this of them, and folding makes their counts those of the rows.
const trafficEvery = 15 * time.Second

// How long the sums of a project by the minute are kept, and those of its routes by the hour.
const (
	keepMinutes = 3 * time.Hour
	keepRoutes  = 35 * 24 * time.Hour
)

// minuteCounter is what traffic is summed by in memory.
type minuteCounter struct {
	minute                      int64 // since 1970-01-01T00:00Z
	project, environment, route string
}

// traffic holds sums of calls, and the latencies of those that were forwarded.
type traffic struct {
	answered, rejected, failed, in, out int64
	rejectedHere, failedHere            int64 // of them: refused by the gateway, without asking the upstream
	firstByte, total                    histogram
}

type minutes map[minuteCounter]*traffic

func (s *shard) countTraffic(c *Call, cached *cache[minuteCounter, traffic]) {
	at := minuteCounter{c.Start.Unix() / 60, c.ProjectID, c.EnvironmentID, c.Route}
	if cached != nil {
		cached.of(s, s.minutes, &at).count(c)
		return
	}
	held(s.minutes, &at).count(c)
}

func (t *traffic) count(c *Call) {
	here := c.Code != "" && !c.Forwarded
	switch c.Status / 100 {
	case 4:
		t.rejected++
		if here {
			t.rejectedHere++
		}
	case 5:
		t.failed++
		if here {
			t.failedHere++
		}
	default:
		t.answered++
	}
	t.in += c.BytesIn
	t.out += c.BytesOut
	// Refusals are answered at once, and tunnels last for as long as their ends like: neither says how fast the
	// upstream is.
	if !c.Forwarded || c.Status == 101 {
		return
	}
	t.total.observe(c.Duration)
	if c.FirstByte > 0 {
		t.firstByte.observe(c.FirstByte)
	}
}

func (t *traffic) merge(other *traffic) {
	t.answered += other.answered
	t.rejected += other.rejected
	t.failed += other.failed
	t.rejectedHere += other.rejectedHere
	t.failedHere += other.failedHere
	t.in += other.in
	t.out += other.out
	t.firstByte.merge(&other.firstByte)
	t.total.merge(&other.total)
}

func (m minutes) merge(other minutes) {
	for at, t := range other {
		held(m, &at).merge(t)
	}
}

// takeMinutes empties the shards' sums by the minute.
func (d *shards) takeMinutes() minutes {
	all := minutes{}
	for i := range d.all {
		here := &d.all[i]
		here.mu.Lock()
		taken := here.minutes
		here.minutes = make(minutes, len(taken))
		here.taken++
		here.mu.Unlock()
		all.merge(taken)
	}
	return all
}

// flushTraffic writes the sums of one project, or of all for "". After an error they are still in memory.
func (r *Recorder) flushTraffic(ctx context.Context, project string) error {
	r.flushing.Lock()
	defer r.flushing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, flushTimeout)
	defer cancel()
	r.traffic.merge(r.shards.takeMinutes())
	due := minutes{}
	for at, t := range r.traffic {
		if project == "" || at.project == project {
			due[at] = t
		}
	}
	if len(due) == 0 {
		return nil
	}
	if err := r.db.Write(ctx, func(tx *models.Tx) error { return due.addTo(tx) }); err != nil {
		return fmt.Errorf("usage: write %d sums of traffic: %w", len(due), err)
	}
	maps.DeleteFunc(r.traffic, func(at minuteCounter, _ *traffic) bool { return due[at] != nil })
	return nil
}

// addTo adds to the rows of a counter: by the minute, the hour and the day for the project as a whole, and by the hour
// and the day for the route.
func (at minuteCounter) addTo(rows map[models.TrafficSlot]*traffic, t *traffic) {
	since := at.minute * 60
	for _, period := range []int64{models.TrafficMinute, models.TrafficHour, models.TrafficDay} {
		whole := models.TrafficSlot{
			ProjectID: at.project,
			Level:     models.TrafficOfProject,
			Period:    period,
			Since:     since / period,
		}
		held(rows, &whole).merge(t)
		if period != models.TrafficMinute {
			route := whole
			route.Level, route.EnvironmentID, route.Route = models.TrafficOfRoute, at.environment, at.route
			held(rows, &route).merge(t)
		}
	}
}

// addTo adds the sums to their rows.
func (m minutes) addTo(tx *models.Tx) error {
	rows := map[models.TrafficSlot]*traffic{}
	for at, t := range m {
		at.addTo(rows, t)
	}
	have, err := tx.TrafficForUpdate(slices.Collect(maps.Keys(rows)))
	if err != nil {
		return err
	}
	for i := range have {
		if t := rows[have[i].TrafficSlot]; t != nil {
			if err := t.read(&have[i]); err != nil {
				return err
			}
		}
	}
	list := make([]models.Traffic, 0, len(rows))
	for slot, t := range rows {
		list = append(list, models.Traffic{
			TrafficSlot: slot,
			Answered:    t.answered,
			Rejected:    t.rejected,
			Failed:      t.failed,
			BytesIn:     t.in,
			BytesOut:    t.out,
			FirstByte:   t.firstByte.encode(),
			Total:       t.total.encode(),

			RejectedHere: t.rejectedHere,
			FailedHere:   t.failedHere,
		})
	}
	return tx.SetTraffic(list)
}

// read adds a row.
func (t *traffic) read(row *models.Traffic) error {
	t.answered += row.Answered
	t.rejected += row.Rejected
	t.failed += row.Failed
	t.rejectedHere += row.RejectedHere
	t.failedHere += row.FailedHere
	t.in += row.BytesIn
	t.out += row.BytesOut
	if err := t.firstByte.mergeEncoded(row.FirstByte); err != nil {
		return err
	}
	return t.total.mergeEncoded(row.Total)
}
