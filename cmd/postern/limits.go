package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
)

// setLimits adds WINDOW=CALLS, or several of them with commas between them, to limits; noLimits sets empty ones. The
// server validates the windows.
func setLimits(limits *contract.Limits, text string) error {
	if text == noLimits && len(*limits) == 0 {
		*limits = contract.Limits{}
		return nil
	}
	added, err := readLimits(strings.Split(text, ","))
	if err != nil {
		return err
	}
	for window, calls := range *limits {
		if _, twice := added[window]; twice {
			return fmt.Errorf("%s is named twice", window)
		}
		added[window] = calls
	}
	*limits = added
	return nil
}

// readLimits parses WINDOW=CALLS, and returns nil for none.
func readLimits(pairs []string) (map[string]int64, error) {
	var limits map[string]int64
	for _, pair := range pairs {
		window, number, ok := strings.Cut(pair, "=")
		calls, err := strconv.ParseInt(number, 10, 64)
		if !ok || window == "" || err != nil {
			return nil, fmt.Errorf("%q is not WINDOW=CALLS, such as minute=100", pair)
		}
		if _, twice := limits[window]; twice {
			return nil, fmt.Errorf("%s is named twice", window)
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
