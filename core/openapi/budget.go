package openapi

import (
	"context"
	"fmt"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"postern/core/openapi/tree"
)

// Error says why a document is refused, in a sentence for each reason for who wrote it.
type Error struct{ Reasons []string }

func (e *Error) Error() string { return "openapi: " + strings.Join(e.Reasons, " ") }

// Budget counts the work on one document. Once a limit is exceeded or the caller has left, Err returns the reason, and
// all further work is refused.
type Budget struct {
	At string // the place in the document that is read, for Err; "": the whole

	size    *Limit // as it is sent
	ended   func() error
	checked int64 // steps when ended was last called
	used    map[*Limit]int64
	wrong   []string // why the document is not valid
	refused int      // how often it was refused
	err     error
}

// maxReasons bounds the reasons of an Error.
const maxReasons = 20

// NewBudget returns a budget for a document of at most this size, Size or UnclaimedSize, of which nothing is used. The
// work ends with the context.
func NewBudget(ctx context.Context, size *Limit) *Budget {
	return &Budget{size: size, ended: ctx.Err, used: map[*Limit]int64{}}
}

// checkEvery is the number of steps between two checks that the caller is still there, about a millisecond.
const checkEvery = 10_000

// Spend adds steps, each of about 100 ns, and reports whether the work may continue.
func (b *Budget) Spend(steps int) bool {
	if b.Take(Steps, int64(steps)) && b.used[Steps]-b.checked >= checkEvery {
		b.checked = b.used[Steps]
		b.err = b.ended()
	}
	return b.err == nil
}

// Take adds n to the amount used, and reports whether that is within the limit.
func (b *Budget) Take(l *Limit, n int64) bool {
	if b.err != nil {
		return false
	}
	b.used[l] += n
	return b.Fits(l, b.used[l])
}

// Fits reports whether one thing of this size is within a limit. It doesn't add up.
func (b *Budget) Fits(l *Limit, size int64) bool {
	if l == Memory && b.size == UnclaimedSize {
		l = UnclaimedMemory
	}
	if b.err == nil && size > l.Most {
		b.refuse(b.At, l.Refusal())
	}
	return b.err == nil
}

// Each returns the items of a list, and spends a step for each. It ends early once the document is refused. Code that
// reads a document ranges over its lists and objects only by Each and Members: a reference can have the same list read
// for each of 10,000 operations.
func (b *Budget) Each(list []any) iter.Seq2[int, any] {
	return func(yield func(int, any) bool) {
		for i, item := range list { // plain: spends
			if !b.Spend(1) || !yield(i, item) {
				return
			}
		}
	}
}

// Members returns the members of an object, sorted by name. Like Each it spends a step for each, and it spends those of
// the sorting before that starts.
func (b *Budget) Members(object map[string]any) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		if !b.Spend(len(object) * (1 + bits.Len(uint(len(object)))/4)) {
			return
		}
		for _, name := range tree.Keys(object) { // plain: spends
			if !b.Spend(len(name)/bytesOfStep) || !yield(name, object[name]) {
				return
			}
		}
	}
}

// Used returns how much of a limit is used.
func (b *Budget) Used(l *Limit) int64 { return b.used[l] }

// Err returns why the document is refused, as an *Error, or why the work on it ended early: an *Error too, or the error
// of the context. It is nil otherwise.
func (b *Budget) Err() error {
	if b.err == nil && len(b.wrong) > 0 {
		return &Error{slices.Clone(b.wrong)}
	}
	return b.err
}

// Refuse refuses a document that is not valid, and lets the work continue, so that all reasons are found at once. The
// text follows the place.
func (b *Budget) Refuse(format string, args ...any) {
	text := sentence("the document isn't valid: " + withPlace(b.At, fmt.Sprintf(format, args...)))
	if b.err != nil {
		return
	}
	if !slices.Contains(b.wrong, text) {
		b.wrong = append(b.wrong, text)
	}
	if b.refused++; b.refused == maxReasons {
		b.err = b.Err()
	}
}

func (b *Budget) refuse(at, text string) { b.err = &Error{[]string{sentence(withPlace(at, text))}} }

// sentence returns a text with a capital and a full stop.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

func withPlace(at, text string) string {
	if at == "" {
		return text
	}
	return at + ": " + text
}

// Resolve returns an object of a document, or the object that it refers to; nil if it isn't an object or refers to
// nothing.
func (b *Budget) Resolve(doc tree.Document, node any) map[string]any {
	for hops := int64(0); b.Fits(References, hops); hops++ {
		object, _ := node.(map[string]any)
		ref, refers := object["$ref"].(string)
		if !refers {
			return object
		}
		node = b.LookUp(doc, ref)
	}
	return nil
}

// LookUp returns the value that a reference points to, or nil if there is none.
func (b *Budget) LookUp(doc tree.Document, ref string) any {
	if !b.Spend(2 + len(ref)/4) {
		return nil
	}
	return doc.LookUp(ref)
}
