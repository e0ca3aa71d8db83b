package openapi

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error says why a document is refused, in a sentence for who wrote it.
type Error struct{ Detail string }

func (e *Error) Error() string { return "openapi: " + e.Detail }

// Budget counts what the work on one document takes. Once a limit is exceeded it stays so: Err has the reason, and all
// that is asked for after that is refused.
type Budget struct {
	At string // the place in the document that is read, for Err; "": the whole

	used map[*Limit]int64
	err  error
}

// NewBudget returns a budget of which nothing is used.
func NewBudget() *Budget { return &Budget{used: map[*Limit]int64{}} }

// Fits reports whether one thing of this size is within a limit. It doesn't add up.
func (b *Budget) Fits(l *Limit, size int64) bool {
	if b.err == nil && size > l.Most {
		b.refuse(l)
	}
	return b.err == nil
}

// Take adds n to what is used, and reports whether that is within the limit.
func (b *Budget) Take(l *Limit, n int64) bool {
	if b.err != nil {
		return false
	}
	b.used[l] += n
	return b.Fits(l, b.used[l])
}

// Used returns how much of a limit is used.
func (b *Budget) Used(l *Limit) int64 { return b.used[l] }

// Err returns why the work on the document ended early, an *Error; nil if it didn't.
func (b *Budget) Err() error { return b.err }

func (b *Budget) refuse(l *Limit) {
	text := l.says + ". " + l.fix
	if b.At != "" {
		text = b.At + ": " + text
	} else if first, size := utf8.DecodeRuneInString(text); size > 0 {
		text = string(unicode.ToUpper(first)) + strings.TrimPrefix(text, string(first))
	}
	b.err = &Error{text}
}
