package usage

import (
	"time"

	"postern/models"
)

// counter is what a call is counted under: a row, but for its sums. None of it
// is the caller's to invent, which keeps the number of rows bounded.
type counter struct {
	hour                                    int64 // since 1970-01-01T00:00Z
	project, environment, owner, key, route string
	class                                   int64 // first digit of the status
}

// sums are what is counted.
type sums struct {
	calls, in, out int64
	last           int64 // Unix seconds of the latest call's start
}

// tally is what was counted since the last time it was taken.
type tally map[counter]*sums

func (d *desk) count(c *Call, before *last) {
	began := c.Start.Unix()
	at := counter{
		hour: began / 3600, project: c.ProjectID, environment: c.EnvironmentID, owner: c.Owner,
		key: c.CredentialID, route: c.Route, class: int64(c.Status / 100),
	}
	if before != nil {
		before.sums(d, &at).add(sums{1, c.BytesIn, c.BytesOut, began})
	} else {
		d.tally.at(at).add(sums{1, c.BytesIn, c.BytesOut, began})
	}
}

// last caches what the last call of a connection was counted under: mostly the next one
// is counted under the same.
type last struct {
	at   counter
	here []lastHere // by the desk's place
}

type lastHere struct {
	taken uint64 // the desk's, then: sums that were taken count no more
	sums  *sums
}

func (l *last) sums(d *desk, at *counter) *sums {
	if l.at != *at {
		l.at = *at
		clear(l.here)
	}
	for len(l.here) <= d.place {
		l.here = append(l.here, lastHere{})
	}
	here := &l.here[d.place]
	if here.sums == nil || here.taken != d.taken {
		here.taken, here.sums = d.taken, d.tally.at(*at)
	}
	return here.sums
}

func (t tally) at(at counter) *sums {
	s := t[at]
	if s == nil {
		s = &sums{}
		t[at] = s
	}
	return s
}

func (s *sums) add(other sums) {
	s.calls += other.calls
	s.in += other.in
	s.out += other.out
	s.last = max(s.last, other.last)
}

func (t tally) merge(other tally) {
	for at, s := range other {
		t.at(at).add(*s)
	}
}

// take empties the counters.
func (d *desks) take() tally {
	all := tally{}
	for i := range d.all {
		here := &d.all[i]
		here.mu.Lock()
		taken := here.tally
		here.tally = make(tally, len(taken)) // the next second is much like this one
		here.taken++
		here.mu.Unlock()
		all.merge(taken)
	}
	return all
}

// giveBack undoes take.
func (d *desks) giveBack(taken tally) {
	here := &d.all[0]
	here.mu.Lock()
	defer here.mu.Unlock()
	here.tally.merge(taken)
}

// counted is how many calls have not been taken.
func (d *desks) counted() (n int64) {
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

func (t tally) rows() []models.UsageHour {
	rows := make([]models.UsageHour, 0, len(t))
	for at, s := range t {
		rows = append(rows, models.UsageHour{
			ProjectID:     at.project,
			Hour:          at.hour,
			EnvironmentID: at.environment,
			Owner:         at.owner,
			KeyID:         at.key,
			Route:         at.route,
			StatusClass:   at.class,
			Calls:         s.calls,
			BytesIn:       s.in,
			BytesOut:      s.out,
		})
	}
	return rows
}

// touchEvery is how long a key's last use is not written again.
const touchEvery = time.Minute

// usedKeys are the keys that were used lately, by id.
type usedKeys map[string]*use

type use struct {
	last      int64 // Unix seconds of the latest call
	writtenAt time.Time
	written   int64 // the last that is in the row
}

func (u usedKeys) see(t tally) {
	for at, s := range t {
		if at.key == "" {
			continue
		}
		if u[at.key] == nil {
			u[at.key] = &use{}
		}
		u[at.key].last = max(u[at.key].last, s.last)
	}
}

// due are the keys to be written now, by the second of their last use, and when
// it is the last time, all that are not written yet. Keys that have nothing to
// write and could be written again are forgotten.
func (u usedKeys) due(now time.Time, last bool) map[int64][]string {
	due := map[int64][]string{}
	for id, key := range u {
		again := now.Sub(key.writtenAt) >= touchEvery
		switch {
		case key.last > key.written && (again || last):
			due[key.last] = append(due[key.last], id)
		case key.last <= key.written && again:
			delete(u, id)
		}
	}
	return due
}

func (u usedKeys) written(due map[int64][]string, now time.Time) {
	for at, ids := range due {
		for _, id := range ids {
			u[id].written, u[id].writtenAt = at, now
		}
	}
}
