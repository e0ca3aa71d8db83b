package main

import (
	"strings"
	"testing"
)

func TestPrintAlong(t *testing.T) {
	for _, tt := range []struct {
		things []counted
		want   string
	}{
		{nil, "Goes along: nothing else.\n"},
		{[]counted{{n: 0, one: "user"}}, "Goes along: nothing else.\n"},
		{
			[]counted{{n: 1, one: "version"}, {n: 0, one: "group"}, {n: 2, one: "app client"}, active(3, 1)},
			"Goes along: 1 version, 2 app clients, 3 keys (1 active).\n",
		},
	} {
		var out strings.Builder
		if err := printAlong(&out, tt.things...); err != nil || out.String() != tt.want {
			t.Errorf("%v: %q, %v, want %q", tt.things, out.String(), err, tt.want)
		}
	}
}
