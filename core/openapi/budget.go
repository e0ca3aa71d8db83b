package openapi

import (
	"context"
	"fmt"
	"unicode"
	"unicode/utf8"

	"postern/core/openapi/tree"
)

// Error says why a document is refused, in a sentence for who wrote it.
type Error struct{ Detail string }

func (e *Error) Error() string { return "openapi: " + e.Detail }

// Budget counts what the work on one document takes. Once a limit is exceeded, or the caller has left, it stays so: Err
// has the reason, and all that is asked for after that is refused.
type Budget struct {
	At string // the place in the document that is read, for Err; "": the whole

	size    *Limit // as it is sent
	ended   func() error
	checked int64 // steps when ended was last called
	used    map[*Limit]int64
	err     error
}

// NewBudget returns a budget for a document of at most this size, Size or UnclaimedSize, of which nothing is used. The
// work ends with the context.
func NewBudget(ctx context.Context, size *Limit) *Budget {
	return &Budget{size: size, ended: ctx.Err, used: map[*Limit]int64{}}
}

// checkEvery is the number of steps between two checks that the caller is still there, about a millisecond.
const checkEvery = 10_000

// Spend adds steps, each of about 100 ns, and reports whether the work goes on.
func (b *Budget) Spend(steps int) bool {
	if b.Take(Steps, int64(steps)) && b.used[Steps]-b.checked >= checkEvery {
		b.checked = b.used[Steps]
		b.err = b.ended()
	}
	return b.err == nil
}

// Take adds n to what is used, and reports whether that is within the limit.
func (b *Budget) Take(l *Limit, n int64) bool {
	if b.err != nil {
		return false
	}
	b.used[l] += n
	most := l
	if l == Memory && b.size == UnclaimedSize {
		most = UnclaimedMemory
	}
	return b.Fits(most, b.used[l])
}

// Fits reports whether one thing of this size is within a limit. It doesn't add up.
func (b *Budget) Fits(l *Limit, size int64) bool {
	if b.err == nil && size > l.Most {
		b.refuse(b.At, l.says+". "+l.fix)
	}
	return b.err == nil
}

// Used returns how much of a limit is used.
func (b *Budget) Used(l *Limit) int64 { return b.used[l] }

// Err returns why the work on the document ended early: an *Error, or the error of the context. It is nil if it didn't.
func (b *Budget) Err() error { return b.err }

// Refuse ends the work on a document that is not valid. The text follows the place.
func (b *Budget) Refuse(format string, args ...any) {
	if b.err == nil {
		b.refuse("", "the document is not valid: "+withPlace(b.At, fmt.Sprintf(format, args...)))
	}
}

func (b *Budget) refuse(at, text string) {
	text = withPlace(at, text)
	first, size := utf8.DecodeRuneInString(text)
	b.err = &Error{string(unicode.ToUpper(first)) + text[size:]}
}

func withPlace(at, text string) string {
	if at == "" {
		return text
	}
	return at + ": " + text
}

// Resolve returns an object of a document, or what it refers to; nil if it is not an object, or refers to nothing.
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

// LookUp returns what a reference leads to; nil for nothing.
func (b *Budget) LookUp(doc tree.Document, ref string) any {
	if !b.Spend(2 + len(ref)/4) {
		return nil
	}
	return doc.LookUp(ref)
}
