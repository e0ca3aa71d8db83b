package testkit

import (
	"slices"
	"testing"
)

func TestByName(t *testing.T) {
	var names []string
	var values []int
	for name, value := range ByName(map[string]int{"c": 3, "a": 1, "e": 5, "b": 2, "d": 4}) {
		names, values = append(names, name), append(values, value)
		if name == "d" {
			break
		}
	}
	if !slices.Equal(names, []string{"a", "b", "c", "d"}) || !slices.Equal(values, []int{1, 2, 3, 4}) {
		t.Errorf("%v %v", names, values)
	}
}
