package usage

import (
	"crypto/rand"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds on the texts of a caller in an entry, in bytes.
const (
	maxMethod = 16
	maxPath   = 256
)

// chunk is the number of entries that a ring grows by, and that a reader copies at a time
// while calls cannot write.
const chunk = 16

// slot is a packed Call: each cache line less is one that need not come from another
// core, or from memory when the calls of many projects take turns. The caller's texts are in one
// buffer, which the next entry in this slot reuses, as it reuses the findings.
type slot struct {
	project, version, environment string
	owner, credential             string
	route, code, step, host       string

	in, out, start, took int64 // start in ns since 1970, took in ns
	firstByte            int64 // in ns
	status, path, ip     int16 // path and ip: where Path and RemoteIP begin in text
	tries                int16
	forwarded            bool

	text  []byte    // Method, Path and RemoteIP
	found *findings // nil: this slot never had any
}

// findings are what few calls have: what rules in shadow, the OpenAPI document and the memory of owners found, and the
// target where there are several.
type findings struct {
	target                                         string
	shadowRule, shadowCode                         string
	invalidAt, invalidWhy                          string
	trackedRule, tracked, trackedThing, missReason string
}

// end returns when the call ended, in ns since 1970.
func (s *slot) end() int64 { return s.start + s.took }

func (s *slot) set(c *Call) {
	text := s.text[:0]
	text = append(text, c.Method[:min(len(c.Method), maxMethod)]...)
	path := len(text)
	if len(c.Path) <= maxPath {
		text = append(text, c.Path...)
	} else {
		text = append(append(text, c.Path[:maxPath]...), "…"...)
	}
	ip := len(text)
	text = append(text, c.RemoteIP...)
	s.project, s.version, s.environment = c.ProjectID, c.VersionID, c.EnvironmentID
	s.owner, s.credential = c.Owner, c.CredentialID
	s.route, s.code, s.step, s.host, s.forwarded = c.Route, c.Code, c.Step, c.Host, c.Forwarded
	s.tries = int16(c.Tries)
	s.setFindings(c)
	s.in, s.out, s.start, s.took = c.BytesIn, c.BytesOut, c.Start.UnixNano(), int64(c.Duration)
	s.firstByte = int64(c.FirstByte)
	s.status, s.path, s.ip, s.text = int16(c.Status), int16(path), int16(ip), text
}

func (s *slot) setFindings(c *Call) {
	if c.ShadowRule == "" && c.InvalidAt == "" && c.TrackedRule == "" && c.Tracked == "" && c.MissReason == "" &&
		c.Target == "" {
		if s.found != nil {
			*s.found = findings{}
		}
		return
	}
	if s.found == nil {
		s.found = &findings{}
	}
	*s.found = findings{
		target:       c.Target,
		shadowRule:   c.ShadowRule,
		shadowCode:   c.ShadowCode,
		invalidAt:    c.InvalidAt,
		invalidWhy:   c.InvalidWhy,
		trackedRule:  c.TrackedRule,
		tracked:      c.Tracked,
		trackedThing: c.TrackedThing,
		missReason:   c.MissReason,
	}
}

func (s *slot) read() Call {
	text := string(s.text)
	var found findings
	if s.found != nil {
		found = *s.found
	}
	return Call{
		ProjectID:     s.project,
		VersionID:     s.version,
		EnvironmentID: s.environment,
		Owner:         s.owner,
		CredentialID:  s.credential,
		Route:         s.route,
		Code:          s.code,
		Step:          s.step,
		Host:          s.host,
		Forwarded:     s.forwarded,
		Tries:         int(s.tries),
		Target:        found.target,
		ShadowRule:    found.shadowRule,
		ShadowCode:    found.shadowCode,
		InvalidAt:     found.invalidAt,
		InvalidWhy:    found.invalidWhy,
		TrackedRule:   found.trackedRule,
		Tracked:       found.tracked,
		TrackedThing:  found.trackedThing,
		MissReason:    found.missReason,
		Method:        text[:s.path],
		Path:          text[s.path:s.ip],
		RemoteIP:      text[s.ip:],
		Status:        int(s.status),
		BytesIn:       s.in,
		BytesOut:      s.out,
		Start:         time.Unix(0, s.start),
		FirstByte:     time.Duration(s.firstByte),
		Duration:      time.Duration(s.took),
	}
}

// entry is a call in a ring. The numbers of a ring start at 1 and have no gaps.
type entry struct {
	number uint64
	call   Call
}

// ring is the ring buffer of a project's latest calls. A call never waits for it: if the
// ring is busy, the call is dropped and counted as such.
type ring struct {
	name    string       // unique over all rings and processes
	usedAt  atomic.Int64 // Unix milliseconds of the latest call
	dropped atomic.Int64

	mu    sync.Mutex
	slots []slot
	count int    // of the slots in use
	first int    // index of the oldest
	last  uint64 // number of the newest entry, 0 before the first
	gone  bool   // evicted
}

func newRing() *ring { return &ring{name: strings.ToLower(rand.Text()[:10])} }

// tryLock tries for as long as another call needs to write an entry. It does not wait for
// a reader that is not scheduled.
func (r *ring) tryLock() bool {
	for range 64 {
		if r.mu.TryLock() {
			return true
		}
	}
	return false
}

// write swaps the call into the ring, for the oldest one if the ring is full. mayGrow
// reserves room for one more chunk.
func (r *ring) write(s *slot, mayGrow func(have int) bool) {
	r.usedAt.Store(s.start / int64(time.Millisecond))
	if !r.tryLock() {
		r.dropped.Add(1)
		return
	}
	defer r.mu.Unlock()
	if r.gone {
		r.dropped.Add(1)
		return
	}
	if r.count == len(r.slots) && mayGrow(len(r.slots)) {
		r.grow()
	}
	switch {
	case r.count < len(r.slots):
		place := r.place(r.count)
		r.slots[place], *s = *s, r.slots[place]
		r.count++
	case r.count == 0:
		r.dropped.Add(1)
		return
	default:
		r.slots[r.first], *s = *s, r.slots[r.first]
		if r.first++; r.first == len(r.slots) {
			r.first = 0
		}
	}
	r.last++
}

// grow adds a chunk of slots behind the newest entry.
func (r *ring) grow() {
	grown := make([]slot, len(r.slots)+chunk)
	for i := range r.count {
		grown[i] = r.slots[r.place(i)]
	}
	r.slots, r.first = grown, 0
}

// place returns the index of the slot that is so many after that of the oldest entry.
func (r *ring) place(after int) int { return (r.first + after) % len(r.slots) }

// newest returns the number of the newest entry.
func (r *ring) newest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// before returns at most limit entries with a smaller number, newest first.
func (r *ring) before(number uint64, limit int) (list []entry) {
	for len(list) < limit {
		part := r.copy(func(oldest, newest uint64) (from, to uint64) {
			to = min(newest, number-1)
			from = max(oldest, to-min(to, chunk)+1)
			return from, to
		})
		if len(part) == 0 {
			break
		}
		for i := len(part) - 1; i >= 0 && len(list) < limit; i-- {
			list = append(list, part[i])
		}
		number = part[0].number
	}
	return list
}

// after returns at most limit entries with a greater number, oldest first, and how many
// of those numbers were overwritten already.
func (r *ring) after(number uint64, limit int) (list []entry, missed uint64) {
	for len(list) < limit {
		part := r.copy(func(oldest, newest uint64) (from, to uint64) {
			from = max(oldest, number+1)
			return from, min(newest, from+chunk-1)
		})
		if len(part) == 0 {
			break
		}
		missed += part[0].number - number - 1
		list = append(list, part...)
		number = part[len(part)-1].number
	}
	return list, missed
}

// copy returns the entries from the first to the last number that choose returns, none if
// the first is greater.
func (r *ring) copy(choose func(oldest, newest uint64) (from, to uint64)) (list []entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == 0 {
		return nil
	}
	oldest := r.last - uint64(r.count) + 1
	from, to := choose(oldest, r.last)
	for number := from; number <= to; number++ {
		list = append(list, entry{number, r.slots[r.place(int(number-oldest))].read()})
	}
	return list
}

// drop removes the oldest entries, up to the first that ended at or after a time. Their
// texts do not stay in memory.
func (r *ring) drop(before time.Time) {
	limit := before.UnixNano()
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.count > 0 && r.slots[r.first].end() < limit {
		r.slots[r.first] = slot{}
		r.first, r.count = r.place(1), r.count-1
	}
}

// id returns the id of an entry, for readers.
func (r *ring) id(number uint64) string { return r.name + "-" + strconv.FormatUint(number, 10) }

// number returns the number in an id of this ring. ok is false for any other text.
func (r *ring) number(id string) (number uint64, ok bool) {
	text, ok := strings.CutPrefix(id, r.name+"-")
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(text, 10, 64)
	return number, err == nil
}

// isRequest reports whether an id is that of a request, of whatever log.
func isRequest(id string) bool {
	_, number, _ := strings.Cut(id, "-")
	_, err := strconv.ParseUint(number, 10, 64)
	return err == nil
}

// idleSince reports whether the last call is longer ago than d.
func (r *ring) idleSince(d time.Duration, now time.Time) bool {
	return now.UnixMilli()-r.usedAt.Load() > d.Milliseconds()
}
