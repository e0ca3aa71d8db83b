package accounts

import (
	"container/list"
	"sync"
	"time"
)

// maxTracked bounds the memory for counts: some 20 MB.
const maxTracked = 100_000

// Attempts counts attempts per key in this process. A key's window begins with its first attempt. When there are too
// many keys, only the oldest one is dropped, so that a flood doesn't reset all counts. The zero value is ready to use,
// and safe for concurrent use.
type Attempts struct {
	Window time.Duration
	Most   int // keys that are counted at a time; 0 means maxTracked

	mu    sync.Mutex
	count map[string]*list.Element // of *tally
	order list.List                // oldest first
}

type tally struct {
	key   string
	began time.Time
	n     int
}

// Bound is how often one key may be counted within a window.
type Bound struct {
	Key string
	Max int
}

// Allow reports whether no bound is reached. It counts nothing.
func (a *Attempts) Allow(now time.Time, bounds ...Bound) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.within(now, bounds)
}

// Take counts one attempt for each bound and returns true, or counts nothing and returns
// false if a bound is reached.
func (a *Attempts) Take(now time.Time, bounds ...Bound) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.within(now, bounds) {
		return false // a refused attempt must not displace other keys
	}
	for _, bound := range bounds {
		a.tallyOf(bound.Key, now).n++
	}
	return true
}

func (a *Attempts) within(now time.Time, bounds []Bound) bool {
	a.expire(now)
	for _, bound := range bounds {
		if e := a.count[bound.Key]; e != nil && e.Value.(*tally).n >= bound.Max {
			return false
		}
	}
	return true
}

func (a *Attempts) expire(now time.Time) {
	for e := a.order.Front(); e != nil && now.Sub(e.Value.(*tally).began) >= a.Window; e = a.order.Front() {
		a.remove(e)
	}
}

func (a *Attempts) remove(e *list.Element) {
	a.order.Remove(e)
	delete(a.count, e.Value.(*tally).key)
}

func (a *Attempts) tallyOf(key string, now time.Time) *tally {
	if e := a.count[key]; e != nil {
		return e.Value.(*tally)
	}
	most := a.Most
	if most == 0 {
		most = maxTracked
	}
	if len(a.count) >= most {
		a.remove(a.order.Front())
	}
	if a.count == nil {
		a.count = map[string]*list.Element{}
	}
	t := &tally{key: key, began: now}
	a.count[key] = a.order.PushBack(t)
	return t
}

// Forget subtracts one attempt from each key's count.
func (a *Attempts) Forget(keys ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range keys {
		if e := a.count[key]; e != nil && e.Value.(*tally).n > 0 {
			e.Value.(*tally).n--
		}
	}
}

// Clear resets a key's count.
func (a *Attempts) Clear(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e := a.count[key]; e != nil {
		a.remove(e)
	}
}
