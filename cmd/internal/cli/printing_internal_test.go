package cli

import (
	"strings"
	"testing"

	"postern/cmd/internal/terminal"
)

func TestPrintAlong(t *testing.T) {
	for _, tt := range []struct {
		things []terminal.Count
		want   string
	}{
		{nil, "Goes along: nothing else.\n"},
		{[]terminal.Count{{N: 0, One: "user"}}, "Goes along: nothing else.\n"},
		{
			[]terminal.Count{{N: 1, One: "version"}, {N: 0, One: "group"}, {N: 2, One: "app client"}, KeyCount(3, 1)},
			"Goes along: 1 version, 2 app clients, 3 keys (1 active).\n",
		},
	} {
		var out strings.Builder
		if err := PrintAlong(&out, tt.things...); err != nil || out.String() != tt.want {
			t.Errorf("%v: %q, %v, want %q", tt.things, out.String(), err, tt.want)
		}
	}
}
