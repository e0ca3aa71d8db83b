package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"
)

// columnGap is the number of spaces between two columns.
const columnGap = 3

// shortestCell is the width below which no cell is cut: that of a time.
const shortestCell = 16

// Table prints rows in aligned columns, with the first row as headings. On a terminal it fits them to the width:
// it cuts long cells, which then end in …, and omits the last columns if they do not fit, which a line below the
// table states. It never cuts the first column, which other commands take as an argument, nor output to a file
// or a pipe.
func Table(w io.Writer, fill func(row func(cells ...string))) error {
	rows := rowsOf(fill)
	hidden := fit(rows, widthOf(w))
	var text strings.Builder
	if err := align(&text, rows); err != nil {
		return err
	}
	headings, others, _ := strings.Cut(text.String(), "\n")
	if _, err := io.WriteString(w, styled(w, bold, headings)+"\n"+others); err != nil || len(hidden) == 0 {
		return err //nolint:wrapcheck // of the terminal
	}
	_, err := fmt.Fprintf(w, "\nNot enough room for %s. Widen the terminal or use --json.\n",
		strings.Join(hidden, ", "))
	return err //nolint:wrapcheck // of the terminal
}

// Details prints aligned rows, such as names and values, without cutting them.
func Details(w io.Writer, fill func(row func(cells ...string))) error { return align(w, rowsOf(fill)) }

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

func align(w io.Writer, rows [][]string) error {
	var aligned bytes.Buffer
	out := tabwriter.NewWriter(&aligned, 0, 0, columnGap, ' ', 0)
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

// fit cuts rows to a width, 0 for no limit, and returns the headings of the columns that it omitted.
func fit(rows [][]string, width int) (hidden []string) {
	if width <= 0 || len(rows) == 0 {
		return nil
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i := range min(len(row), len(widths)) {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
	}
	shown := columnsThatFit(widths, width)
	for _, heading := range rows[0][shown:] {
		if heading != "" {
			hidden = append(hidden, heading)
		}
	}
	narrow(widths[:shown], width)
	for r, row := range rows {
		rows[r] = row[:min(len(row), shown)]
		for i, cell := range rows[r] {
			rows[r][i] = cut(cell, widths[i])
		}
	}
	return hidden
}

// columnsThatFit returns the number of columns that fit if their cells are cut, at least one.
func columnsThatFit(widths []int, width int) int {
	total := 0
	for i, w := range widths {
		if i > 0 {
			w = columnGap + min(w, shortestCell)
		}
		if total += w; total > width && i > 0 {
			return i
		}
	}
	return len(widths)
}

// narrow reduces the widest columns until all fit. It leaves the first one as it is.
func narrow(widths []int, width int) {
	total := columnGap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	for ; total > width; total-- {
		widest := 0
		for i := 1; i < len(widths); i++ {
			if widths[i] > shortestCell && (widest == 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest == 0 {
			return
		}
		widths[widest]--
	}
}

// cut shortens a text to a number of characters, the last of which is then an ellipsis.
func cut(s string, length int) string {
	runes := []rune(s)
	if len(runes) <= length {
		return s
	}
	return strings.TrimRight(string(runes[:length-1]), " ") + "…"
}
