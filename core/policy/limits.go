package policy

import (
	"context"
	"iter"
	"math/bits"
	"strings"
	"time"

	"postern/core/snapshot"
)

// Dimension is a property that calls are counted by.
type Dimension uint8

// The dimensions, in the order in which they are counted.
const (
	ByKey Dimension = iota
	ByOwner
	ByIP
	ByProject
	dimensions = iota
)

var dimensionNames = [dimensions]string{"key", "owner", "ip", "project"}

// String returns the dimension's name as in settings.
func (d Dimension) String() string { return dimensionNames[d] }

// ParseDimension returns the dimension of that name, and whether there is one.
func ParseDimension(name string) (Dimension, bool) {
	for d, known := range dimensionNames {
		if name == known {
			return Dimension(d), true
		}
	}
	return 0, false
}

// Bucket identifies one counter of calls within a project.
type Bucket struct {
	Project string
	By      Dimension
	Subject string // key id, owner or address; "" for the project itself
}

// Share is one of the buckets that a call is counted in, with its limits and the number of calls that remain.
type Share struct {
	Bucket
	Limits *snapshot.Limits
	Set    Windows                 // those with a limit
	Left   [snapshot.Windows]int64 // calls that remain in each limited window after this one
}

// MaxShares is the highest number of buckets that one call counts in: one of each
// dimension.
const MaxShares = dimensions

// Limiter counts calls.
type Limiter interface {
	// Take counts a call in all windows of its tally, or in none if one of them is used up. It sets Refused, and Left
	// of each share. It may set Now to the time of a clock that replicas share. It returns an error if the call could
	// not be counted. ctx contains the call's trace, and doesn't end with the call.
	Take(ctx context.Context, t *Tally) error
}

// Tally has the buckets that one call counts in. Realm.Tally fills it in, and a
// Limiter counts it.
type Tally struct {
	Now     time.Time
	Refused bool // a window was used up, so the call wasn't counted at all
	shares  [dimensions]Share
	n       int
}

// Shares returns the buckets with limits, in the order of their dimensions.
func (t *Tally) Shares() []Share { return t.shares[:t.n] }

// Tally sets t to the buckets that an admitted call counts in. key is the accepted
// key, nil without one.
func (r *Realm) Tally(t *Tally, id *Identity, key *snapshot.Key, ip string, now time.Time) {
	t.Now, t.Refused, t.n = now, false, 0
	if id.CredentialID != "" {
		t.add(r, ByKey, id.CredentialID, r.KeyLimits(key))
	}
	if account := id.Account(); account != "" {
		t.add(r, ByOwner, account, &r.Limits.Owner)
	}
	t.add(r, ByIP, ip, &r.Limits.IP)
	t.add(r, ByProject, "", &r.Limits.Project)
}

func (t *Tally) add(r *Realm, by Dimension, subject string, limits *snapshot.Limits) {
	if limits.None() {
		return
	}
	share := &t.shares[t.n]
	if bucket := (Bucket{r.ID, by, subject}); share.Bucket != bucket {
		share.Bucket = bucket
	}
	if share.Limits != limits { // limits are immutable, so the same pointer means the same limits
		share.Limits, share.Set = limits, limited(limits)
	}
	t.n++
}

// Windows is a set of windows, one bit each.
type Windows uint8

func limited(limits *snapshot.Limits) (set Windows) {
	for w, limit := range limits {
		if limit > 0 {
			set |= 1 << w
		}
	}
	return set
}

// All iterates over the windows of the set, the shortest first.
func (set Windows) All() iter.Seq[snapshot.Window] {
	return func(yield func(snapshot.Window) bool) {
		for ; set != 0; set &= set - 1 {
			if !yield(snapshot.Window(bits.TrailingZeros8(uint8(set)))) {
				return
			}
		}
	}
}

// tightest returns the limit of window w that leaves the fewest calls, and how many it
// leaves. Among equals it is the lowest limit.
func (t *Tally) tightest(w snapshot.Window) (limit, left int64) {
	limited := false
	for i := range t.Shares() {
		share := &t.shares[i]
		if most := share.Limits[w]; most > 0 &&
			(!limited || share.Left[w] < left || share.Left[w] == left && most < limit) {
			limit, left, limited = most, share.Left[w], true
		}
	}
	return limit, left
}

// tight is a window with its tightest limit.
type tight struct {
	window      snapshot.Window
	limit, left int64
}

// windows returns the limited windows, the shortest first, and the decisive one: the
// window with the fewest calls left. Among equals it is the longest, because a caller
// who has used them up has to wait for its end. space backs the list.
func (t *Tally) windows(space *[snapshot.Windows]tight) (list []tight, decisive tight) {
	list = space[:0]
	var set Windows
	for i := range t.Shares() {
		set |= t.shares[i].Set
	}
	for w := range set.All() {
		limit, left := t.tightest(w)
		if list = append(list, tight{w, limit, left}); len(list) == 1 || left <= decisive.left {
			decisive = list[len(list)-1]
		}
	}
	return list, decisive
}

// Denial returns the response to a call that the limits refuse: QuotaExceeded if the
// window that is used up is a day or longer, RateLimited otherwise.
func (t *Tally) Denial() Denial {
	if _, decisive := t.windows(new([snapshot.Windows]tight)); decisive.window >= snapshot.Day {
		return QuotaExceeded
	}
	return RateLimited
}

var windowHeaders = [snapshot.Windows][2]string{
	{"X-Ratelimit-Limit-Second", "X-Ratelimit-Remaining-Second"},
	{"X-Ratelimit-Limit-Minute", "X-Ratelimit-Remaining-Minute"},
	{"X-Ratelimit-Limit-Hour", "X-Ratelimit-Remaining-Hour"},
	{"X-Ratelimit-Limit-Day", "X-Ratelimit-Remaining-Day"},
	{"X-Ratelimit-Limit-Month", "X-Ratelimit-Remaining-Month"},
	{"X-Ratelimit-Limit-Year", "X-Ratelimit-Remaining-Year"},
}

// LimitHeader is one response header about limits.
type LimitHeader struct {
	Name  string
	Value int64
	Fixed bool // the value is a limit, the same from call to call
}

// MaxLimitHeaders is the highest number of LimitHeaders that a response can have.
const MaxLimitHeaders = 2*snapshot.Windows + 4

// Headers appends to list the headers that Kong's rate-limiting plugin sets (kong/plugins/rate-limiting/handler.lua):
// for each window its tightest limit and the remaining calls, then the decisive window again under the names of
// draft-ietf-httpapi-ratelimit-headers-02. Times are in whole seconds, at least 1.
func (t *Tally) Headers(list []LimitHeader) []LimitHeader {
	if t.n == 0 {
		return list
	}
	windows, decisive := t.windows(new([snapshot.Windows]tight))
	for _, w := range windows {
		names := &windowHeaders[w.window]
		list = append(list,
			LimitHeader{Name: names[0], Value: w.limit, Fixed: true},
			LimitHeader{Name: names[1], Value: w.left},
		)
	}
	_, end := WindowBounds(decisive.window, t.Now)
	reset := end - t.Now.Unix()
	list = append(list,
		LimitHeader{Name: "Ratelimit-Limit", Value: decisive.limit, Fixed: true},
		LimitHeader{Name: "Ratelimit-Remaining", Value: decisive.left},
		LimitHeader{Name: "Ratelimit-Reset", Value: reset},
	)
	if t.Refused {
		list = append(list, LimitHeader{Name: "Retry-After", Value: reset})
	}
	return list
}

// IsLimitHeader reports whether Headers can set a header of that name on a response
// that is not a refusal. An upstream's header of the same name would contradict it.
func IsLimitHeader(name string) bool {
	if len(name) < len("RateLimit-Limit") {
		return false
	}
	switch name[0] | 0x20 {
	case 'r':
		return sameHeader(name, "ratelimit-limit") || sameHeader(name, "ratelimit-remaining") ||
			sameHeader(name, "ratelimit-reset")
	case 'x':
		for _, names := range windowHeaders {
			if strings.EqualFold(name, names[0]) || strings.EqualFold(name, names[1]) {
				return true
			}
		}
	}
	return false
}
