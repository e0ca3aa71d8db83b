package models

import "time"

// GroupBy returns rows by a key that several of them may have, in the order that they are in.
func GroupBy[Row any, Key comparable](rows []Row, key func(Row) Key) map[Key][]Row {
	out := map[Key][]Row{}
	for _, row := range rows {
		out[key(row)] = append(out[key(row)], row)
	}
	return out
}

// KeyBy returns rows by a key that each of them has alone.
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
