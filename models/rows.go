package models

import "time"

// GroupBy groups rows by a key, and keeps their order.
func GroupBy[Row any, Key comparable](rows []Row, key func(Row) Key) map[Key][]Row {
	out := map[Key][]Row{}
	for _, row := range rows {
		out[key(row)] = append(out[key(row)], row)
	}
	return out
}

// KeyBy maps rows by a unique key.
func KeyBy[Row any](rows []Row, key func(Row) string) map[string]Row {
	out := make(map[string]Row, len(rows))
	for _, row := range rows {
		out[key(row)] = row
	}
	return out
}

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
