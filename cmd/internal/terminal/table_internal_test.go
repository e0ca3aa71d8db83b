package terminal

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFit(t *testing.T) {
	id, note := "key_01jd8x5v6g7h8j9k0m1n2p3q4r", strings.Repeat("nightly run ", 8)
	rows := func() [][]string {
		return [][]string{
			{"ID", "STATE", "EXPIRES", "DESCRIPTION", "NOTE"},
			{id, "active", "2026-11-24 23:47", note, "this token"},
			{id}, // a row that ends early
		}
	}
	for name, tc := range map[string]struct {
		width  int
		hidden []string
		want   string // of the second row
	}{
		"not a terminal":    {0, nil, id + "|active|2026-11-24 23:47|" + note + "|this token"},
		"wide enough":       {300, nil, id + "|active|2026-11-24 23:47|" + note + "|this token"},
		"a cell is cut":     {100, nil, id + "|active|2026-11-24 23:47|nightly run nightly run n…|this token"},
		"times are dates":   {80, nil, id + "|active|2026-11-24|nightly run…|this token"},
		"headings stay":     {75, nil, id + "|active|2026-11-24|nightly ru…|this token"},
		"no room for two":   {60, []string{"DESCRIPTION", "NOTE"}, id + "|active|2026-11-24 23:47"},
		"no room for three": {45, []string{"EXPIRES", "DESCRIPTION", "NOTE"}, id + "|active"},
		"no room for the first": {
			10, []string{"STATE", "EXPIRES", "DESCRIPTION", "NOTE"}, id,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := rows()
			hidden, gap := fit(got, tc.width)
			if !slices.Equal(hidden, tc.hidden) {
				t.Errorf("hidden %q, want %q", hidden, tc.hidden)
			}
			if line := strings.Join(got[1], "|"); line != tc.want {
				t.Errorf("got  %s\nwant %s", line, tc.want)
			}
			var out strings.Builder
			if err := align(&out, got, gap); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
				if tc.width > len(id) && n > tc.width {
					t.Errorf("%d characters in a terminal of %d: %s", n, tc.width, line)
				}
			}
		})
	}
}

func TestDetails_emptyValue(t *testing.T) {
	var out strings.Builder
	err := Details(&out, func(row func(...string)) { row("User", "ana"); row("Name", ""); row("Last login", "never") })
	if err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "User         ana\nName\nLast login   never\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestPrintableInTables(t *testing.T) {
	var out strings.Builder
	if err := Table(&out, func(row func(...string)) { row("A", "B"); row("x\x1b[2J", "y\nz") }); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "A       B\nx [2J   y z\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFit_ids(t *testing.T) {
	id := "tnt_01jd8x5v6g7h8j9k0m1n2p3q4r"
	rows := [][]string{{"NAME", "SERVED BY", "ID"}, {"acme", strings.Repeat("shop, ", 9), id}, {"spare", "", id}}
	if hidden, _ := fit(rows, 60); len(hidden) > 0 || rows[1][2] != id || !strings.HasSuffix(rows[1][1], "…") {
		t.Errorf("hidden %q, rows %q", hidden, rows)
	}
}

func TestRecordsOf(t *testing.T) {
	var out strings.Builder
	rows := [][]string{{"RULE", "SCOPES", "GROUPS"}, {"rul_1", "", "staff"}, {"rul_2", "read"}}
	if err := align(&out, recordsOf(rows), columnGap); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "RULE     rul_1\nGROUPS   staff\n\nRULE     rul_2\nSCOPES   read\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
