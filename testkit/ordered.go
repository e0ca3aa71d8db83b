package testkit

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// ByName yields the entries of m in the order of their keys. Go ranges over a map in a random order: where cases share
// what they work on, such a test fails by chance.
func ByName[Name cmp.Ordered, Case any](m map[Name]Case) iter.Seq2[Name, Case] {
	return func(yield func(Name, Case) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
