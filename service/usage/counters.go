package usage

import (
	"time"

	"postern/models"
)

// counter is the key of a row that calls are summed in. A caller chooses none of its
// fields, so that the number of rows is bounded.
type counter struct {
	hour                                    int64 // since 1970-01-01T00:00Z
	project, environment, owner, key, route string
	class                                   int64 // first digit of the status
}

// sums are the totals in a row.
type sums struct {
	calls, in, out int64
	last           int64 // Unix seconds of the latest call's start
}

// tally holds what was counted since it was last taken.
type tally map[counter]*sums

func (s *shard) count(c *Call, cached *last) {
	began := c.Start.Unix()
	at := counter{
		hour:        began / 3600,
		project:     c.ProjectID,
		environment: c.EnvironmentID,
		owner:       c.Owner,
		key:         c.CredentialID,
		route:       c.Route,
		class:       int64(c.Status / 100),
	}
	one := sums{1, c.BytesIn, c.BytesOut, began}
	if cached != nil {
		cached.sums.of(s, s.tally, &at).add(one)
		s.countTraffic(c, &cached.traffic)
		return
	}
	held(s.tally, &at).add(one)
	s.countTraffic(c, nil)
}

// last caches the counters of a connection's last call: mostly the next call has the same.
type last struct {
	sums    cache[counter, sums]
	traffic cache[minuteCounter, traffic]
}

// cache caches the entry of a key in the table of each shard.
type cache[K comparable, V any] struct {
	at   K
	here []cached[V] // by the shard's place
}

type cached[V any] struct {
	taken uint64 // of the shard when value was cached; value is stale if it has changed
	value *V
}

func (l *cache[K, V]) of(d *shard, table map[K]*V, at *K) *V {
	if l.at != *at {
		l.at = *at
		clear(l.here)
	}
	for len(l.here) <= d.place {
		l.here = append(l.here, cached[V]{})
	}
	here := &l.here[d.place]
	if here.value == nil || here.taken != d.taken {
		here.taken, here.value = d.taken, held(table, at)
	}
	return here.value
}

// held returns the entry of a key, which it adds if it is missing.
func held[K comparable, V any, M ~map[K]*V](table M, at *K) *V {
	value := table[*at]
	if value == nil {
		value = new(V)
		table[*at] = value
	}
	return value
}

func (s *sums) add(other sums) {
	s.calls += other.calls
	s.in += other.in
	s.out += other.out
	s.last = max(s.last, other.last)
}

func (t tally) merge(other tally) { t.mergeAt(nil, other) }

func (t tally) mergeAt(pace *pace, other tally) {
	for at, s := range other {
		held(t, &at).add(*s)
		pace.step()
	}
}

// take empties the counters. The counters of the largest shard are not copied.
func (d *shards) take() (all tally) {
	for i := range d.all {
		here := &d.all[i]
		here.mu.Lock()
		taken := here.tally
		here.tally = make(tally, len(taken)) // as many counters as in the second before
		here.taken++
		here.mu.Unlock()
		if len(taken) > len(all) {
			all, taken = taken, all
		}
		all.mergeAt(paceOf(len(taken)), taken)
	}
	return all
}

// giveBack undoes take.
func (d *shards) giveBack(taken tally) {
	here := &d.all[0]
	here.mu.Lock()
	defer here.mu.Unlock()
	here.tally.merge(taken)
}

// counted returns the number of calls that were not taken yet.
func (d *shards) counted() (n int64) {
	for i := range d.all {
		here := &d.all[i]
		here.mu.Lock()
		for _, s := range here.tally {
			n += s.calls
		}
		here.mu.Unlock()
	}
	return n
}

func rowsOf(list []counted) []models.UsageHour {
	rows := make([]models.UsageHour, 0, len(list))
	for i := range list {
		c := &list[i]
		rows = append(rows, models.UsageHour{
			ProjectID:     c.project,
			Hour:          c.hour,
			EnvironmentID: c.environment,
			Owner:         c.owner,
			KeyID:         c.key,
			Route:         c.route,
			StatusClass:   c.class,
			Calls:         c.calls,
			BytesIn:       c.in,
			BytesOut:      c.out,
		})
	}
	return rows
}

// touchEvery is the shortest time between two writes of a key's last use.
const touchEvery = time.Minute

// usedKeys are the keys that were used recently, by id.
type usedKeys map[string]*use

type use struct {
	last      int64 // Unix seconds of the latest call
	writtenAt time.Time
	stored    int64 // the value of last in the row
}

func (u usedKeys) add(list []counted) {
	for i := range list {
		at := &list[i]
		if at.key == "" {
			continue
		}
		if u[at.key] == nil {
			u[at.key] = &use{}
		}
		u[at.key].last = max(u[at.key].last, at.last)
	}
}

// due returns the keys to write now, by the second of their last use. With last set, these
// are all that were not written yet. Keys with nothing to write are removed once
// touchEvery is over.
func (u usedKeys) due(now time.Time, last bool) map[int64][]string {
	due := map[int64][]string{}
	for id, key := range u {
		again := now.Sub(key.writtenAt) >= touchEvery
		switch {
		case key.last > key.stored && (again || last):
			due[key.last] = append(due[key.last], id)
		case key.last <= key.stored && again:
			delete(u, id)
		}
	}
	return due
}

func (u usedKeys) markWritten(due map[int64][]string, now time.Time) {
	for at, ids := range due {
		for _, id := range ids {
			u[id].stored, u[id].writtenAt = at, now
		}
	}
}
