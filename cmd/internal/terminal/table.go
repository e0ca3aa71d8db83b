package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"
)

// The number of spaces between two columns, and between those of a table that would be too wide.
const (
	columnGap = 3
	narrowGap = 2
)

// The widths below which cells aren't cut: of a table that can keep its columns so, and of any other one. They are
// those of a time and of a date.
const (
	usualCell    = len("2006-01-02 15:04")
	shortestCell = len("2006-01-02")
)

// Table prints rows in aligned columns, with the first row as headings. On a terminal it fits them to the width: it
// cuts long cells, which then end in …, and times, which then are dates. Only if that isn't enough, it omits the last
// columns, which a line below the table states. It never cuts the first column, which other commands take as an
// argument, nor other IDs, nor output to a file or a pipe.
func Table(w io.Writer, fill func(row func(cells ...string))) error {
	rows := rowsOf(fill)
	hidden, gap := fit(rows, widthOf(w))
	if err := printTable(w, rows, gap); err != nil || len(hidden) == 0 {
		return err
	}
	_, err := fmt.Fprintf(w, "\nNot enough room for %s. Widen the terminal or use --json.\n",
		strings.Join(hidden, ", "))
	return err //nolint:wrapcheck // of the terminal
}

// WholeTable is Table for rows that mislead if a part of them is missing. It cuts and omits nothing. If the rows are
// too wide for the terminal, it prints each row as lines with a heading and a value, without the empty ones.
func WholeTable(w io.Writer, fill func(row func(cells ...string))) error {
	rows := rowsOf(fill)
	width := widthOf(w)
	for _, gap := range []int{columnGap, narrowGap} {
		if width <= 0 || total(widthsOf(rows), gap) <= width {
			return printTable(w, rows, gap)
		}
	}
	return align(w, recordsOf(rows), columnGap)
}

// recordsOf returns a row for each cell that isn't empty: its heading and the cell. Records are separated by an empty
// row.
func recordsOf(rows [][]string) (records [][]string) {
	for i, row := range rows[1:] {
		if i > 0 {
			records = append(records, []string{""})
		}
		for c, cell := range row {
			if cell != "" {
				records = append(records, []string{rows[0][c], cell})
			}
		}
	}
	return records
}

func printTable(w io.Writer, rows [][]string, gap int) error {
	var text strings.Builder
	if err := align(&text, rows, gap); err != nil {
		return err
	}
	headings, others, _ := strings.Cut(text.String(), "\n")
	_, err := io.WriteString(w, styled(w, bold, headings)+"\n"+others)
	return err //nolint:wrapcheck // of the terminal
}

// Details prints aligned rows, such as names and values, without cutting them.
func Details(w io.Writer, fill func(row func(cells ...string))) error {
	return align(w, rowsOf(fill), columnGap)
}

func rowsOf(fill func(row func(cells ...string))) [][]string {
	var rows [][]string
	fill(func(cells ...string) {
		row := make([]string, len(cells))
		for i, cell := range cells {
			row[i] = Printable(cell)
		}
		rows = append(rows, row)
	})
	return rows
}

func align(w io.Writer, rows [][]string, gap int) error {
	var aligned bytes.Buffer
	out := tabwriter.NewWriter(&aligned, 0, 0, gap, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(out, strings.Join(row, "\t")) // with the tab before an empty cell, which ends a column otherwise
	}
	if err := out.Flush(); err != nil {
		return err
	}
	for line := range bytes.Lines(aligned.Bytes()) {
		if _, err := fmt.Fprintf(w, "%s\n", bytes.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// widthOf returns the number of columns of a terminal, 0 if w is not one.
func widthOf(w io.Writer) int {
	if screen, ok := w.(*Screen); ok {
		w = screen.file
	}
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// fit cuts rows to a width, 0 for no limit. It returns the headings of the columns that it omitted, and the gap between
// the others.
func fit(rows [][]string, width int) (hidden []string, gap int) {
	widths := widthsOf(rows)
	if width <= 0 || total(widths, columnGap) <= width {
		return nil, columnGap
	}
	least, gap := leastWidths(rows, widths, usualCell), columnGap
	if total(least, gap) > width {
		gap = narrowGap
	}
	if total(least, gap) > width {
		least = leastWidths(rows, widths, shortestCell)
	}
	shown := len(widths)
	for shown > 1 && total(least[:shown], gap) > width {
		shown--
	}
	for _, heading := range rows[0][shown:] {
		if heading != "" {
			hidden = append(hidden, heading)
		}
	}
	narrow(widths[:shown], least, width, gap)
	for r, row := range rows {
		rows[r] = row[:min(len(row), shown)]
		for i, cell := range rows[r] {
			rows[r][i] = cut(cell, widths[i])
		}
	}
	return hidden, gap
}

// widthsOf returns the width of each column, in characters.
func widthsOf(rows [][]string) (widths []int) {
	for r, row := range rows {
		if r == 0 {
			widths = make([]int, len(row))
		}
		for i := range min(len(row), len(widths)) {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	return widths
}

// total is the width of a table.
func total(widths []int, gap int) int {
	sum := gap * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// anID matches an ID, of which a part is of no use.
var anID = regexp.MustCompile(`^[a-z]+_[0-9a-z]{20,}$`)

// leastWidths returns the widths to which columns can be cut, if a cell needs a number of characters. The first column
// and those with IDs aren't cut, and headings aren't either.
func leastWidths(rows [][]string, widths []int, cell int) []int {
	least := slices.Clone(widths)
	for i := 1; i < len(widths); i++ {
		isID := func(row []string) bool { return len(row) > i && anID.MatchString(row[i]) }
		if !slices.ContainsFunc(rows, isID) {
			least[i] = min(widths[i], max(cell, utf8.RuneCountInString(rows[0][i])))
		}
	}
	return least
}

// narrow reduces the widest columns until all fit, and none below its least width.
func narrow(widths, least []int, width, gap int) {
	for range total(widths, gap) - width {
		widest := -1
		for i := range widths {
			if widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// aTime matches a time as When formats it.
var aTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d \d\d:\d\d$`)

// cut shortens a text to a number of characters, the last of which is then an ellipsis. It shortens a time to the date.
func cut(s string, length int) string {
	runes := []rune(s)
	switch {
	case len(runes) <= length:
		return s
	case length >= shortestCell && aTime.MatchString(s):
		return s[:shortestCell]
	}
	return strings.TrimRight(string(runes[:length-1]), " ") + "…"
}
