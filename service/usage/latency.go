package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/service/access"
)

// Quantiles are durations that half and 95 of 100 forwarded calls did not exceed; 0 without calls.
type Quantiles struct{ P50, P95 time.Duration }

// Latency says how long forwarded calls took, but for tunnels.
type Latency struct {
	FirstByte Quantiles // until the response began
	Total     Quantiles // until it ended
}

func (t *traffic) latency() Latency {
	of := func(h *histogram) Quantiles {
		n := float64(h.total())
		return Quantiles{h.rank(0.5 * n), h.rank(0.95 * n)}
	}
	return Latency{of(&t.firstByte), of(&t.total)}
}

// Traffic is what happened to the calls of a period.
type Traffic struct {
	Since                      time.Time
	Answered, Rejected, Failed int64 // Rejected: 4xx; Failed: 5xx
	RejectedHere, FailedHere   int64 // of them: refused by Postern, without asking the upstream
	BytesIn, BytesOut          int64
	Latency
}

// Calls returns the number of calls.
func (t Traffic) Calls() int64 { return t.Answered + t.Rejected + t.Failed }

// Refused returns the number of calls that Postern refused without asking the upstream. The others of Rejected and
// Failed are the upstream's, or got no answer from it.
func (t Traffic) Refused() int64 { return t.RejectedHere + t.FailedHere }

func (t *traffic) show(since time.Time) Traffic {
	return Traffic{
		Since: since, Answered: t.answered, Rejected: t.rejected, Failed: t.failed,
		RejectedHere: t.rejectedHere, FailedHere: t.failedHere, BytesIn: t.in, BytesOut: t.out, Latency: t.latency(),
	}
}

// Series is a project's traffic by time: a point for each period in which there were calls.
type Series struct {
	Points []Traffic
	Sum    Traffic
}

// Traffic returns a project's traffic since from by periods of a minute, an hour or a day; minutes of the last three
// hours only. It includes all calls of this process; those of other replicas are up to 15 seconds late.
func (s *Service) Traffic(
	ctx context.Context, p access.Principal, project string, period time.Duration, from time.Time,
) (Series, error) {
	tx := s.DB.Read(ctx)
	row, err := access.Project(tx, p, project, access.UsageRead)
	if err == nil {
		err = s.Recorder.flushTraffic(context.WithoutCancel(ctx), row.ID)
	}
	if err != nil {
		return Series{}, fmt.Errorf("usage: traffic of %s: %w", project, err)
	}
	series, err := readSeries(tx, []string{row.ID}, period, from)
	if err != nil {
		return Series{}, fmt.Errorf("usage: traffic of %s: %w", project, err)
	}
	return series[row.ID], nil
}

// Overviews returns the traffic of projects since from by the hour, by their ids. Projects without calls are absent.
// Counts of the last 15 seconds may be missing. It fails if the principal may not read one of them.
func (s *Service) Overviews(
	ctx context.Context, p access.Principal, projectIDs []string, from time.Time,
) (map[string]Series, error) {
	tx := s.DB.Read(ctx)
	if err := access.Projects(tx, p, projectIDs, access.UsageRead); err != nil {
		return nil, fmt.Errorf("usage: traffic of projects: %w", err)
	}
	series, err := readSeries(tx, projectIDs, time.Hour, from)
	if err != nil {
		return nil, fmt.Errorf("usage: traffic of %d projects: %w", len(projectIDs), err)
	}
	return series, nil
}

func readSeries(tx *models.Tx, projects []string, period time.Duration, from time.Time) (map[string]Series, error) {
	seconds := int64(period / time.Second)
	rows, err := tx.TrafficOf(projects, models.TrafficOfProject, seconds, from.Unix()/seconds, 1<<40)
	if err != nil {
		return nil, err
	}
	out, sums := map[string]Series{}, map[string]*traffic{}
	for i := range rows {
		var t traffic
		if err := t.read(&rows[i]); err != nil {
			return nil, err
		}
		id := rows[i].ProjectID
		series := out[id]
		series.Points = append(series.Points, t.show(time.Unix(rows[i].Since*seconds, 0).UTC()))
		out[id] = series
		held(sums, &id).merge(&t)
	}
	for id, sum := range sums {
		series := out[id]
		series.Sum = sum.show(series.Points[0].Since)
		out[id] = series
	}
	return out, nil
}

// groupKey identifies a group that latencies are measured for.
type groupKey struct {
	since              int64
	environment, route string
}

// addLatency adds the latencies of groups, which are measured by time, environment and route alone.
func (q query) addLatency(tx *models.Tx, project string, groups []group) error {
	has := func(by string) bool { return slices.Contains(q.GroupBy, by) }
	if has(contract.ByOwner) || has(contract.ByKey) || has(contract.ByTenant) || has(contract.ByStatusClass) {
		return nil
	}
	sums := map[groupKey]*traffic{}
	read := func(period, from, to int64) error {
		rows, err := tx.TrafficOf([]string{project}, models.TrafficOfRoute, period, from, to)
		for i := range rows {
			row, key := &rows[i], groupKey{}
			switch {
			case has(contract.ByHour):
				key.since = row.Since * models.TrafficHour
			case has(contract.ByDay):
				key.since = row.Since * period / models.TrafficDay * models.TrafficDay
			}
			if has(contract.ByEnvironment) {
				key.environment = row.EnvironmentID
			}
			if has(contract.ByRoute) {
				key.route = row.Route
			}
			if err := held(sums, &key).read(row); err != nil {
				return err
			}
		}
		return err
	}
	from, to := q.From.Unix()/models.TrafficHour, q.To.Unix()/models.TrafficHour
	var err error
	if first, last := (from+23)/24, to/24; has(contract.ByHour) || first >= last {
		err = read(models.TrafficHour, from, to)
	} else {
		err = errors.Join(
			read(models.TrafficHour, from, first*24),
			read(models.TrafficDay, first, last),
			read(models.TrafficHour, last*24, to),
		)
	}
	for i := range groups {
		g := &groups[i]
		key := groupKey{environment: g.environment.ID, route: g.route}
		if !g.since.IsZero() {
			key.since = g.since.Unix()
		}
		if t := sums[key]; t != nil {
			g.latency = t.latency().shown()
		}
	}
	return err
}

func (l Latency) shown() *contract.UsageLatency {
	of := func(q Quantiles) contract.UsageQuantiles {
		return contract.UsageQuantiles{P50: contract.MillisecondsOf(q.P50), P95: contract.MillisecondsOf(q.P95)}
	}
	out := &contract.UsageLatency{Total: of(l.Total)}
	if first := of(l.FirstByte); first.P95 > 0 {
		out.FirstByte = &first
	}
	return out
}
