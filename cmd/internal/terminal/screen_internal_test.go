package terminal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func fileIn(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	return file
}

func textOf(t *testing.T, file *os.File) string {
	t.Helper()
	text, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPaged checks which output goes through the pager of a terminal with three lines, and that none is lost.
func TestPaged(t *testing.T) {
	failed := errors.New("failed")
	for name, tc := range map[string]struct {
		height int
		pager  []string
		lines  int
		err    error
		want   string
	}{
		"short":         {3, []string{"sed", "s/^/paged /"}, 2, nil, "line\nline\n"},
		"long":          {3, []string{"sed", "s/^/paged /"}, 3, nil, "paged line\npaged line\npaged line\n"},
		"no terminal":   {0, nil, 3, nil, "line\nline\nline\n"},
		"no such pager": {3, []string{"no-such-pager"}, 3, nil, "line\nline\nline\n"},
		"pager fails":   {3, []string{"false"}, 3, nil, ""},
		"error":         {3, []string{"sed", "s/^/paged /"}, 3, failed, "paged line\npaged line\npaged line\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := fileIn(t)
			screen := &Screen{Writer: file, file: file, height: tc.height, pager: tc.pager}
			term := Terminal{Out: screen, Environ: os.Environ()}
			err := Paged(term, func() error {
				for range tc.lines {
					fmt.Fprintln(term.Out, "line")
				}
				return tc.err
			})
			if !errors.Is(err, tc.err) {
				t.Errorf("error %v, want %v", err, tc.err)
			}
			fmt.Fprintln(term.Out, "after")
			if got := textOf(t, file); got != tc.want+"after\n" {
				t.Errorf("printed %q, want %q", got, tc.want)
			}
		})
	}
}

func TestOpened_styles(t *testing.T) {
	for variables, want := range map[string]bool{
		"":                            false,
		"CLICOLOR_FORCE=1":            true,
		"CLICOLOR_FORCE=0":            false,
		"NO_COLOR=1":                  false,
		"NO_COLOR=1 CLICOLOR_FORCE=1": true,
	} {
		file := fileIn(t)
		term := Opened(Terminal{Out: file, Environ: strings.Fields(variables)})
		if err := Table(term.Out, func(row func(...string)) { row("A", "B"); row("x", "y") }); err != nil {
			t.Fatal(err)
		}
		styled := "\x1b[1mA   B\x1b[0m\nx   y\n"
		plain := "A   B\nx   y\n"
		if got := textOf(t, file); (got == styled) != want || (got == plain) == want {
			t.Errorf("%q: printed %q", variables, got)
		}
	}
}

func TestPagerOf(t *testing.T) {
	for variables, want := range map[string]string{
		"PAGER=more":                       "more",
		"PAGER=more POSTERN_PAGER=less -R": "less -R",
	} {
		environ := []string{}
		for _, pair := range strings.SplitAfter(variables, "more ") {
			environ = append(environ, strings.TrimSpace(pair))
		}
		if got := strings.Join(pagerOf(Terminal{Environ: environ}), " "); got != want {
			t.Errorf("%q: %q, want %q", variables, got, want)
		}
	}
}
