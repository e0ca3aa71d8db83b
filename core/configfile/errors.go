package configfile

import (
	"errors"
	"fmt"

	"postern/core/filelimits"
)

// Error is why a file can't be read. Its text has no value of the file.
type Error struct {
	File   string // name of one of several files; "" for the only one
	Line   int    // 0 for the whole file
	Code   string // one of the Code constants
	Detail string // sentences with the fix
}

// The codes of errors.
const (
	CodeFormat    = "format"    // not a file that can be read
	CodeDuplicate = "duplicate" // a member that comes twice
	CodeLimit     = "limit"     // more than the reader takes of one thing
)

// Error implements error.
func (e *Error) Error() string {
	switch {
	case e.Line > 0 && e.File != "":
		return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Detail)
	case e.Line > 0:
		return fmt.Sprintf("Line %d: %s", e.Line, e.Detail)
	case e.File != "":
		return e.File + ": " + e.Detail
	}
	return e.Detail
}

// Refuse returns an error about a line.
func Refuse(line int, detail string, args ...any) *Error {
	return &Error{Line: line, Code: CodeFormat, Detail: fmt.Sprintf(detail, args...)}
}

// Beyond returns the error of a file beyond a limit.
func Beyond(limit *filelimits.Limit) *Error { return &Error{Code: CodeLimit, Detail: limit.Sentence()} }

func longName(line int) *Error {
	return &Error{Line: line, Code: CodeLimit, Detail: filelimits.GatewayName.Sentence()}
}

// In returns the error with the name of the file, if there are several.
func In(name string, err error) error {
	if wrong, ok := errors.AsType[*Error](err); ok && wrong.File == "" {
		named := *wrong
		named.File = name
		return &named
	}
	return err
}
