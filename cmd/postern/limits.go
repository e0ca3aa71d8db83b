package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// readLimits parses WINDOW=CALLS, and returns nil without flags. The server validates
// the windows.
func readLimits(pairs []string) (map[string]int64, error) {
	var limits map[string]int64
	for _, pair := range pairs {
		window, number, ok := strings.Cut(pair, "=")
		calls, err := strconv.ParseInt(number, 10, 64)
		if !ok || window == "" || err != nil {
			return nil, usageError{fmt.Sprintf("--limit %q is not WINDOW=CALLS, such as minute=100", pair)}
		}
		if _, twice := limits[window]; twice {
			return nil, usageError{fmt.Sprintf("--limit names %s twice", window)}
		}
		if limits == nil {
			limits = map[string]int64{}
		}
		limits[window] = calls
	}
	return limits, nil
}

// limitsText formats limits, the shortest window first.
func limitsText(limits map[string]int64) string {
	windows := []string{"second", "minute", "hour", "day", "month", "year"}
	var parts []string
	byLength := func(a, b string) int { return slices.Index(windows, a) - slices.Index(windows, b) }
	for _, window := range slices.SortedFunc(maps.Keys(limits), byLength) {
		parts = append(parts, fmt.Sprintf("%d per %s", limits[window], window))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
