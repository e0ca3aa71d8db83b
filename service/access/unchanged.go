package access

import (
	"slices"
	"strconv"
	"time"

	"postern/platform/fault"
)

// ETag names the state that a row is in since its last change, for If-Match.
func ETag(updated time.Time) string { return strconv.FormatInt(updated.UnixMicro(), 36) }

// Unchanged refuses a change of what is not in the state that the caller saw (RFC 9110,
// 13.1.1). ifMatch is one of the names of that state, or "" for whatever it is.
func Unchanged(ifMatch string, now ...string) error {
	if ifMatch == "" || slices.Contains(now, ifMatch) {
		return nil
	}
	return Stale()
}

// Stale is the fault of a change that somebody else's came before.
func Stale() error {
	return fault.New(fault.Stale, "changed_meanwhile", "Somebody changed this since you looked. Look at it again, "+
		"then repeat your change.")
}
