package directory

import (
	"fmt"
	"slices"
	"testing"

	"postern/core/snapshot"
)

// groupsOf returns groups with their parents.
func groupsOf(parents map[string][]string) map[string]*snapshot.Group {
	known := map[string]*snapshot.Group{}
	for id, of := range parents {
		known[id] = &snapshot.Group{ID: id, Parents: of}
	}
	return known
}

func TestInCircles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		parents map[string][]string
		want    []string
	}{
		"a tree": {map[string][]string{"a": {}, "b": {"a"}, "c": {"a", "b"}}, nil},
		"itself": {map[string][]string{"a": {"a"}, "b": {"a"}, "c": {}}, []string{"a"}},
		"a circle": {
			map[string][]string{"a": {"c"}, "b": {"a"}, "c": {"b"}, "d": {"c"}, "e": {}}, []string{"a", "b", "c"},
		},
		"above a circle":  {map[string][]string{"a": {}, "b": {"a", "c"}, "c": {"b"}}, []string{"b", "c"}},
		"unknown parents": {map[string][]string{"a": {"x"}, "b": {"a", "x"}}, nil},
		"a parent twice":  {map[string][]string{"a": {}, "b": {"a", "a"}, "c": {"b"}}, nil},
	} {
		circular := inCircles(groupsOf(tt.parents))
		var got []string
		for id := range circular {
			got = append(got, id)
		}
		slices.Sort(got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// A zip can have a chain of 100,000 groups: looking upward from each of them would not end.
func TestInCircles_chain(t *testing.T) {
	t.Parallel()
	parents := map[string][]string{"0": {}}
	for i := 1; i < 100_000; i++ {
		parents[fmt.Sprint(i)] = []string{fmt.Sprint(i - 1)}
	}
	if got := inCircles(groupsOf(parents)); len(got) > 0 {
		t.Errorf("%d groups of a chain contain themselves", len(got))
	}
	parents["0"] = []string{"99999"}
	if got := inCircles(groupsOf(parents)); len(got) != len(parents) {
		t.Errorf("%d groups of a ring contain themselves, want %d", len(got), len(parents))
	}
}
