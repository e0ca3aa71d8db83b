package cli

import (
	"strings"
	"testing"

	"postern/cmd/internal/terminal"
)

func TestPrintDeleted(t *testing.T) {
	for _, tt := range []struct {
		things []terminal.Count
		want   string
	}{
		{nil, "Nothing else is affected.\n"},
		{[]terminal.Count{{N: 0, One: "user"}}, "Nothing else is affected.\n"},
		{
			[]terminal.Count{{N: 1, One: "version"}, {N: 0, One: "group"}, {N: 2, One: "app client"}, KeyCount(3, 1)},
			"This also deletes: 1 version, 2 app clients, 3 keys (1 active).\n",
		},
	} {
		var out strings.Builder
		if err := PrintDeleted(&out, tt.things...); err != nil || out.String() != tt.want {
			t.Errorf("%v: %q, %v, want %q", tt.things, out.String(), err, tt.want)
		}
	}
}
