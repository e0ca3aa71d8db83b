package snapshot

// Window is a fixed span of time, aligned to the clock and the calendar in UTC,
// in which calls are counted.
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

// String is the window's name as documents write it, such as minute.
func (w Window) String() string { return windowNames[w] }

// ParseWindow finds a window by its name.
func ParseWindow(name string) (Window, bool) {
	for w, known := range windowNames {
		if name == known {
			return Window(w), true
		}
	}
	return 0, false
}

// Limits are the calls that each window admits; 0 admits any number.
type Limits [Windows]int64

// None tells whether nothing is limited.
func (l Limits) None() bool { return l == Limits{} }

// ProjectLimits say what is counted, and up to where.
type ProjectLimits struct {
	Key     Limits // each key, unless it or its type has limits of its own
	Owner   Limits // each owner of keys, with all keys together, and the fallback owner
	IP      Limits // each address that calls come from
	Project Limits // all calls together
}

// None tells whether nothing is limited.
func (l ProjectLimits) None() bool { return l == ProjectLimits{} }
