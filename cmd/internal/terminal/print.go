package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/dustin/go-humanize"
)

// PrintJSON prints the API's response.
func PrintJSON(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}

// listed is a list as the API returns it, with the items of all pages.
type listed[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor"`
}

// PrintJSONList prints items as the API prints a list that has no further page.
func PrintJSONList[T any](w io.Writer, items []T) error {
	if items == nil {
		items = []T{}
	}
	return PrintJSON(w, listed[T]{Items: items})
}

// Printable removes control characters from text that others have written, such as a
// description, since they could control the terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, s)
}

// When formats a time to the minute in the local time zone, "" for nil.
func When(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// ShowDuration formats a duration as flags take it: whole days in days, and without units that are zero.
func ShowDuration(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// DaysLeft formats the days until an end in parentheses, "" without an end.
func DaysLeft(end *time.Time) string {
	if end == nil {
		return ""
	}
	const day = 24 * time.Hour
	left := time.Until(*end)
	switch days := int(left.Round(day) / day); {
	case left <= 0:
		return " (over)"
	case days == 0:
		return " (less than a day left)"
	case days == 1:
		return " (1 day left)"
	default:
		return fmt.Sprintf(" (%d days left)", days)
	}
}

// Progress shows the progress of a command on one line of a terminal, and nothing if
// the output is not a terminal.
type Progress struct {
	w       io.Writer
	watched bool
	shown   bool
}

// NewProgress returns a Progress that shows nothing yet.
func NewProgress(w io.Writer) *Progress { return &Progress{w: w, watched: IsTerminal(w)} }

// The control sequences (ECMA-48) that return to the start of the line and clear it.
const startOver = "\r\x1b[K"

// Say shows a text in the place of the one before.
func (p *Progress) Say(text string) {
	if p.watched {
		fmt.Fprint(p.w, startOver+text)
		p.shown = true
	}
}

// End clears the line.
func (p *Progress) End() {
	if p.shown {
		fmt.Fprint(p.w, startOver)
		p.shown = false
	}
}

// Counter counts the bytes that are read of a file.
type Counter struct{ read atomic.Int64 }

// Of says how much of a file of that size was read, in bytes; 0 for a size that isn't known.
func (c *Counter) Of(size int64) string {
	if size == 0 {
		return Size(c.read.Load())
	}
	return Size(c.read.Load()) + " of " + Size(size)
}

// Done reports whether a file of that size was read to its end.
func (c *Counter) Done(size int64) bool { return size > 0 && c.read.Load() >= size }

// Reader counts what is read of r.
func (c *Counter) Reader(r io.Reader) io.Reader { return countedReader{r, c} }

// ReaderAt counts what is read of r, from its beginning to its end.
func (c *Counter) ReaderAt(r io.ReaderAt) io.ReaderAt { return countedReaderAt{r, c} }

type countedReader struct {
	io.Reader
	counter *Counter
}

// Read implements io.Reader.
func (r countedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.counter.read.Add(int64(n))
	return n, err //nolint:wrapcheck // of the file
}

type countedReaderAt struct {
	io.ReaderAt
	counter *Counter
}

// ReadAt implements io.ReaderAt.
func (r countedReaderAt) ReadAt(p []byte, at int64) (int, error) {
	n, err := r.ReaderAt.ReadAt(p, at)
	r.counter.read.Store(at + int64(n)) // a request that is sent again begins at the beginning
	return n, err                       //nolint:wrapcheck // of the file
}

// OrNever formats a time as When does, and nil as "never".
func OrNever(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return When(t)
}

// OrDash returns a text, and "-" for none.
func OrDash(s *string) string {
	if s == nil || *s == "" {
		return "-"
	}
	return *s
}

// Count is a number of things, such as keys.
type Count struct {
	N      int64
	One    string // its singular, which doesn't end in ay, oy or uy
	Detail string // after the name, such as "(2 active)"
}

// String returns such as "1 key" or "2 keys (1 active)".
func (c Count) String() string {
	name := c.One
	stem, y := strings.CutSuffix(name, "y")
	switch {
	case c.N == 1:
	case y && !strings.HasSuffix(stem, "e"): // keys
		name = stem + "ies"
	default:
		name += "s"
	}
	text := humanize.Comma(c.N) + " " + name
	if c.Detail != "" {
		text += " " + c.Detail
	}
	return text
}

// Size formats a number of bytes for people, as pages do.
func Size(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }
