// Package ordered ranges over the cases of a test in the same order each time.
//
// Go ranges over a map in a random order. Where cases share what they work on, such a
// test fails by chance.
package ordered

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// ByName yields the entries of m in the order of their keys.
func ByName[Name cmp.Ordered, Case any](m map[Name]Case) iter.Seq2[Name, Case] {
	return func(yield func(Name, Case) bool) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !yield(name, m[name]) {
				return
			}
		}
	}
}
