package snapshot

import "postern/core/contract"

// Window is a fixed span of time in which calls are counted. Windows are aligned to the clock and the calendar in UTC.
type Window uint8

// The windows, shortest first.
const (
	Second Window = iota
	Minute
	Hour
	Day
	Month
	Year
	Windows = iota // how many there are
)

var windowNames = [Windows]string{"second", "minute", "hour", "day", "month", "year"}

// String returns the window's name as in documents, such as minute.
func (w Window) String() string { return windowNames[w] }

// ParseWindow returns the window of that name, and whether there is one.
func ParseWindow(name string) (Window, bool) {
	for w, known := range windowNames {
		if name == known {
			return Window(w), true
		}
	}
	return 0, false
}

// Limits are the numbers of calls that each window admits; 0 means no limit.
type Limits [Windows]int64

// None reports whether nothing is limited.
func (l Limits) None() bool { return l == Limits{} }

// Stated returns the limits of the limited windows, by the window's name.
func (l Limits) Stated() contract.Limits {
	out := contract.Limits{}
	for window, calls := range l {
		if calls > 0 {
			out[Window(window).String()] = calls
		}
	}
	return out
}

// ProjectLimits has the limits of a project for each thing that calls are counted by.
type ProjectLimits struct {
	Key     Limits // each key, unless it or its type has its own limits
	Owner   Limits // each owner, over all of its keys; the fallback owner too
	IP      Limits // each client address
	Project Limits // all calls combined
}

// Stated returns the limits by the window's name.
func (l ProjectLimits) Stated() contract.ProjectLimits {
	return contract.ProjectLimits{
		Key: l.Key.Stated(), Owner: l.Owner.Stated(), IP: l.IP.Stated(), Project: l.Project.Stated(),
	}
}

// None reports whether nothing is limited.
func (l ProjectLimits) None() bool { return l == ProjectLimits{} }
