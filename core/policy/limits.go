package policy

import (
	"iter"
	"math/bits"
	"strings"
	"time"

	"postern/core/snapshot"
)

// Dimension is what calls are counted by.
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

// String is the dimension's name as settings have it.
func (d Dimension) String() string { return dimensionNames[d] }

// ParseDimension finds a dimension by its name.
func ParseDimension(name string) (Dimension, bool) {
	for d, known := range dimensionNames {
		if name == known {
			return Dimension(d), true
		}
	}
	return 0, false
}

// Bucket is one thing that calls are counted for within a project.
type Bucket struct {
	Project string
	By      Dimension
	Subject string // key id, owner or address; "" for the project itself
}

// Share is a bucket of one call, with its limits and what they leave.
type Share struct {
	Bucket
	Limits *snapshot.Limits
	Set    Windows                 // those with a limit
	Left   [snapshot.Windows]int64 // calls that each limited window still admits after this one
}

// MaxShares is the most buckets that one call is counted for: one of each dimension.
const MaxShares = dimensions

// Limiter counts calls. Take counts one in all windows of its tally, or in none where
// one is used up, and sets Left of each share, and Refused. An error means that the call
// could not be counted.
type Limiter interface {
	Take(*Tally) error
}

// Tally is what one call is counted for. Realm.Tally fills it in, and a Limiter counts it.
type Tally struct {
	Now     time.Time
	Refused bool // a window was used up, and the call was counted nowhere
	shares  [dimensions]Share
	n       int
}

// Shares are the buckets with limits, in the order of their dimensions.
func (t *Tally) Shares() []Share { return t.shares[:t.n] }

// Tally fills in what an admitted call is counted for. key is the one that was
// accepted, nil without one.
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
	if share.Limits != limits { // what is at one address never changes
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

// All ranges over the windows, the shortest first.
func (set Windows) All() iter.Seq[snapshot.Window] {
	return func(yield func(snapshot.Window) bool) {
		for ; set != 0; set &= set - 1 {
			if !yield(snapshot.Window(bits.TrailingZeros8(uint8(set)))) {
				return
			}
		}
	}
}

// tightest finds the share with the least left in a window that one of them limits;
// of several the one with the lowest limit.
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

// tight is a window with what its tightest limit leaves.
type tight struct {
	window      snapshot.Window
	limit, left int64
}

// windows are the limited ones, the shortest first, and the decisive one: that with
// the least left, of several the longest, because that is how long a caller who has
// used them up has to wait.
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

// Denial is the answer to a call that was refused: a quota where the window that
// is used up is a day or longer.
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

// LimitHeader is one header that tells a caller of limits.
type LimitHeader struct {
	Name  string
	Value int64
	Fixed bool // it is a limit, and the same from call to call
}

// MaxLimitHeaders is how many a call can have.
const MaxLimitHeaders = 2*snapshot.Windows + 4

// Headers adds to the list what Kong's rate-limiting plugin tells a caller
// (kong/plugins/rate-limiting/handler.lua): for each window what its tightest
// limit leaves, and the window with the least left of all once more by the names
// of draft-ietf-httpapi-ratelimit-headers-02. Times are in whole seconds, at
// least 1.
func (t *Tally) Headers(list []LimitHeader) []LimitHeader {
	if t.n == 0 {
		return list
	}
	windows, decisive := t.windows(new([snapshot.Windows]tight))
	for _, w := range windows {
		names := &windowHeaders[w.window]
		list = append(list, LimitHeader{names[0], w.limit, true}, LimitHeader{Name: names[1], Value: w.left})
	}
	_, end := WindowBounds(decisive.window, t.Now)
	reset := end - t.Now.Unix()
	list = append(list, LimitHeader{"Ratelimit-Limit", decisive.limit, true},
		LimitHeader{
			Name:  "Ratelimit-Remaining",
			Value: decisive.left,
		}, LimitHeader{Name: "Ratelimit-Reset", Value: reset})
	if t.Refused {
		list = append(list, LimitHeader{Name: "Retry-After", Value: reset})
	}
	return list
}

// IsLimitHeader tells the headers that Headers sets on an answer that is not a
// refusal; an upstream's own of these names would contradict them.
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
