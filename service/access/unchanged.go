package access

import (
	"slices"
	"strconv"
	"time"

	"postern/platform/fault"
)

// ETag returns the entity tag for If-Match of a row that was last changed at updated.
func ETag(updated time.Time) string { return strconv.FormatInt(updated.UnixMicro(), 36) }

// Unchanged refuses a change unless ifMatch is one of the current entity tags (RFC
// 9110, 13.1.1). An empty ifMatch matches any state.
func Unchanged(ifMatch string, now ...string) error {
	if ifMatch == "" || slices.Contains(now, ifMatch) {
		return nil
	}
	return Stale()
}

// Stale returns the fault for a change that is based on an old state.
func Stale() error {
	return fault.New(fault.Stale, "changed_concurrently",
		"This has changed since you loaded it. Reload it and try again.")
}

var errChangedConcurrently = fault.New(fault.Conflict, "changed_concurrently",
	"This was changed by another request. Reload it and try again.")

// ChangedConcurrently returns the error for a change that lost a race with another one: Conflict changed_concurrently.
func ChangedConcurrently() error { return errChangedConcurrently }
