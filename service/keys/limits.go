package keys

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/fault"
)

// MaxCalls is the highest limit of a window: the largest number that all JSON parsers read as an exact integer (RFC
// 8259, 6).
const MaxCalls = 1<<53 - 1

// Limits returns the limits in a column. It skips unknown windows, because only a newer replica can have written them.
func Limits(column contract.Limits) snapshot.Limits {
	var out snapshot.Limits
	for name, calls := range column {
		if window, ok := snapshot.ParseWindow(name); ok {
			out[window] = calls
		}
	}
	return out
}

func optionalLimits(column *contract.Limits) *snapshot.Limits {
	if column == nil {
		return nil
	}
	limits := Limits(*column)
	return &limits
}

// CheckLimits checks limits, which are keyed by the window's name; pointer is their JSON Pointer in the body. The
// longer of two windows may not admit fewer calls than the shorter, which could then never be used up. Kong refuses
// such pairs.
func CheckLimits(pointer string, in contract.Limits) []fault.Field {
	var wrong []fault.Field
	var shorter snapshot.Window
	var least int64
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if _, known := snapshot.ParseWindow(name); !known {
			wrong = append(wrong, fault.Field{
				Pointer: pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name),
				Code:    "unknown_window",
				Detail:  "Use second, minute, hour, day, month or year.",
			})
		}
	}
	for window := snapshot.Second; window < snapshot.Windows; window++ {
		calls, limited := in[window.String()]
		at := pointer + "/" + window.String()
		switch {
		case !limited:
			continue
		case calls < 1:
			wrong = append(wrong, fault.Field{
				Pointer: at,
				Code:    "invalid_limit",
				Detail:  "Use 1 call or more. Leave the window out for no limit.",
			})
		case calls > MaxCalls:
			wrong = append(wrong, fault.Field{
				Pointer: at,
				Code:    "invalid_limit",
				Detail: fmt.Sprintf("Use at most %s calls. Leave the window out for no limit.",
					humanize.Comma(MaxCalls)),
			})
		case calls < least:
			wrong = append(wrong, fault.Field{
				Pointer: at,
				Code:    "limit_out_of_order",
				Detail: fmt.Sprintf("A limit of %s per %s is lower than the limit of %s per %s. Use %[3]s or more, "+
					"or lower the other limit.", humanize.Comma(calls), window, humanize.Comma(least), shorter),
			})
		default:
			shorter, least = window, calls
		}
	}
	return wrong
}

// ProjectLimits returns the limits in a column of a project.
func ProjectLimits(column contract.ProjectLimits) snapshot.ProjectLimits {
	return snapshot.ProjectLimits{
		Key: Limits(column.Key), Owner: Limits(column.Owner), IP: Limits(column.IP), Project: Limits(column.Project),
	}
}
