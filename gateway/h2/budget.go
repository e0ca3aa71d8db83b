package h2

import "time"

// budget bounds how often a caller may do something that costs the server more than it costs the caller. It refills
// with time, and with useful requests of the caller.
type budget struct {
	left, most int
	perSecond  int
	refilled   time.Time
}

func newBudget(most, perSecond int) budget {
	return budget{left: most, most: most, perSecond: perSecond, refilled: time.Now()}
}

// spend reports whether the budget covers a cost. It looks at the clock only when nothing is left.
func (b *budget) spend(cost int) bool {
	if b.left -= cost; b.left >= 0 {
		return true
	}
	now := time.Now()
	earned := min(now.Sub(b.refilled), time.Hour).Milliseconds() * int64(b.perSecond) / 1000
	b.refilled = now
	b.left = int(min(int64(b.left)+earned, int64(b.most)))
	return b.left >= 0
}

// earn gives back a part.
func (b *budget) earn(n int) { b.left = min(b.left+n, b.most) }

// The limits of a connection. The frames that count as wasted are those which ask for an answer or for work and bring
// no request and no data: PING, SETTINGS, empty DATA, CONTINUATION, PRIORITY, WINDOW_UPDATE and unknown ones
// (CVE-2019-9511 to 9518, CVE-2024-27316). Resets are streams that end without a response, whether the caller resets
// them or has the server do it (CVE-2023-44487, CVE-2025-8671).
const (
	wasteMost, wastePerSecond = 1000, 250
	resetMost, resetPerSecond = 300, 50

	// usefulFrame is what a request, or a DATA frame of some size in either direction, earns of wasted frames: a window
	// is opened by two frames, and each side may send a PING to measure the way.
	usefulFrame = 4
	usefulBytes = 64 // below which a DATA frame earns nothing
)
