// Package fault separates what an error tells the caller from its private cause.
//
// It owns the kinds of failure and the public text of each. It leaves HTTP status codes to
// handlers/web/problem.go, which maps kinds to them, and logging to the callers: the cause
// stays reachable through errors.Unwrap.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind is the kind of a failure, which the edges map to a status code or an exit code.
type Kind int

// The kinds, with the HTTP status that RFC 9110 or RFC 4918 gives the same meaning.
const (
	Internal        Kind = iota // 500: not the caller's fault
	Malformed                   // 400: not parseable at all
	Unauthenticated             // 401: no or no valid credential
	Forbidden                   // 403: known, but not allowed
	NotFound                    // 404: absent, or not visible to the caller
	Conflict                    // 409: the state does not allow it
	Gone                        // 410: existed, and will not come back
	Stale                       // 412: If-Match does not fit
	TooLarge                    // 413
	Unsupported                 // 415: not a media type we read
	Invalid                     // 422: parsed, but a field is wrong
	TooMany                     // 429
	Unavailable                 // 503: try again later
)

// Field points at one wrong field of the caller's input.
type Field struct {
	Pointer string // JSON Pointer (RFC 6901) into the request body, "" for the whole
	Detail  string // what is wrong and how to fix it, shown to the caller
	Code    string // stable, snake_case; "" if the error's own code is specific enough
}

// Error is a failure with a public side. Its Error method includes the cause
// and is for logs; Public and Fields are for the caller.
type Error struct {
	Kind   Kind
	Code   string // stable, snake_case
	Public string // one sentence that may be shown to the caller
	Fields []Field
	Wait   time.Duration // until a retry makes sense; 0: not known
	Text   Text          // of Public, for its translations
	cause  error
}

// Text identifies a public sentence where pages are translated: errors with the same code can have different sentences.
type Text struct {
	Key    string   // "" if the code has only one sentence
	Values []string // names and values in turn, which a translation has in its place of {name}
}

// New returns an error of the kind with a stable code and a public sentence.
func New(kind Kind, code, public string, args ...any) *Error {
	return &Error{Kind: kind, Code: code, Public: fmt.Sprintf(public, args...)}
}

// InvalidField returns an error of kind Invalid about one field.
func InvalidField(pointer, code, detail string, args ...any) *Error {
	text := fmt.Sprintf(detail, args...)
	return &Error{
		Kind:   Invalid,
		Code:   code,
		Public: text,
		Fields: []Field{{Pointer: pointer, Detail: text, Code: code}},
	}
}

// MaxFields is how many wrong fields one error lists.
const MaxFields = 20

// InvalidFields returns an error of kind Invalid about the first MaxFields fields, nil
// without any. With a single field the error has the field's code and text.
func InvalidFields(fields []Field) error {
	switch len(fields) {
	case 0:
		return nil
	case 1:
		f := fields[0]
		code := f.Code
		if code == "" {
			code = "invalid_field"
		}
		return &Error{Kind: Invalid, Code: code, Public: f.Detail, Fields: fields}
	}
	public := fmt.Sprintf("%d fields aren't valid.", len(fields))
	if len(fields) > MaxFields {
		public += fmt.Sprintf(" The first %d are listed.", MaxFields)
		fields = fields[:MaxFields]
	}
	return &Error{Kind: Invalid, Code: "invalid_fields", Public: public, Fields: fields}
}

// Because returns a copy of e with a cause, which is logged but not shown to callers.
func (e *Error) Because(cause error) *Error {
	out := *e
	out.cause = cause
	return &out
}

// Worded returns a copy of e whose sentence has its own key, and the values that are in it: their names and the values
// in turn.
func (e *Error) Worded(key string, values ...string) *Error {
	out := *e
	out.Text = Text{Key: key, Values: values}
	return &out
}

// After returns a copy of e with a Wait.
func (e *Error) After(wait time.Duration) *Error {
	out := *e
	out.Wait = wait
	return &out
}

func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.Public + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Public
}

func (e *Error) Unwrap() error { return e.cause }

// KindOf returns the kind of the first *Error in err's chain, Internal without one.
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return Internal
}

// RetryAfter returns the wait of the first *Error in err's chain, 0 without one.
func RetryAfter(err error) time.Duration {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Wait
	}
	return 0
}

// CodeOf returns the code of the first *Error in err's chain, "" without one.
func CodeOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}
