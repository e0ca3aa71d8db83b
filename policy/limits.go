package policy

import (
	"strconv"
	"strings"
	"time"

	"postern/snapshot"
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
	Left   [snapshot.Windows]int64 // calls that each limited window still admits after this one
}

// Tally is what one call is counted for. Fill it with Realm.Tally; whoever counts
// sets Left of each share, and Refused.
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
	share.Bucket, share.Limits = Bucket{r.ID, by, subject}, limits
	t.n++
}

// tightest finds the share with the least left in a window; of several the one
// with the lowest limit.
func (t *Tally) tightest(w snapshot.Window) (limit, left int64, limited bool) {
	for i := range t.Shares() {
		share := &t.shares[i]
		if most := share.Limits[w]; most > 0 && (!limited || share.Left[w] < left || share.Left[w] == left && most < limit) {
			limit, left, limited = most, share.Left[w], true
		}
	}
	return limit, left, limited
}

// decisive is the window with the least left; of several the longest, because
// that is how long a caller who has used them up has to wait.
func (t *Tally) decisive() (window snapshot.Window, limit, left int64) {
	found := false
	for w := snapshot.Window(snapshot.Windows); w > 0; {
		w--
		if most, rest, limited := t.tightest(w); limited && (!found || rest < left) {
			window, limit, left, found = w, most, rest, true
		}
	}
	return window, limit, left
}

// Denial is the answer to a call that was refused: a quota where the window that
// is used up is a day or longer.
func (t *Tally) Denial() Denial {
	if window, _, _ := t.decisive(); window >= snapshot.Day {
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

// Headers sets what Kong's rate-limiting plugin tells a caller
// (kong/plugins/rate-limiting/handler.lua): for each window what its tightest
// limit leaves, and the window with the least left of all once more by the names
// of draft-ietf-httpapi-ratelimit-headers-02. Times are in whole seconds, at
// least 1.
func (t *Tally) Headers(set func(name, value string)) {
	if t.n == 0 {
		return
	}
	for w, names := range windowHeaders {
		if limit, left, limited := t.tightest(snapshot.Window(w)); limited {
			set(names[0], strconv.FormatInt(limit, 10))
			set(names[1], strconv.FormatInt(left, 10))
		}
	}
	window, limit, left := t.decisive()
	_, end := WindowBounds(window, t.Now)
	reset := strconv.FormatInt(end-t.Now.Unix(), 10)
	set("Ratelimit-Limit", strconv.FormatInt(limit, 10))
	set("Ratelimit-Remaining", strconv.FormatInt(left, 10))
	set("Ratelimit-Reset", reset)
	if t.Refused {
		set("Retry-After", reset)
	}
}

// IsLimitHeader tells the headers that Headers sets on an answer that is not a
// refusal; an upstream's own of these names would contradict them.
func IsLimitHeader(name string) bool {
	if len(name) < len("RateLimit-Limit") {
		return false
	}
	switch name[0] | 0x20 {
	case 'r':
		return sameHeader(name, "ratelimit-limit") || sameHeader(name, "ratelimit-remaining") || sameHeader(name, "ratelimit-reset")
	case 'x':
		for _, names := range windowHeaders {
			if strings.EqualFold(name, names[0]) || strings.EqualFold(name, names[1]) {
				return true
			}
		}
	}
	return false
}
