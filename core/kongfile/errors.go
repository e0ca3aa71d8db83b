package kongfile

import (
	"fmt"

	"postern/core/filelimits"
)

// Error is why a file can't be read. Its text has no value of the file.
type Error struct {
	Line   int    // 0 for the whole file
	Code   string // one of the Code constants
	Detail string // sentences with the fix
}

// The codes of errors.
const (
	CodeFormat    = "format"    // not a file of Kong that can be read
	CodeDuplicate = "duplicate" // a member that comes twice
	CodeLimit     = "limit"     // more than the reader takes of one thing
)

// Error implements error.
func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("Line %d: %s", e.Line, e.Detail)
	}
	return e.Detail
}

func refuse(line int, detail string, args ...any) error {
	return &Error{Line: line, Code: CodeFormat, Detail: fmt.Sprintf(detail, args...)}
}

func beyond(limit *filelimits.Limit) error {
	return &Error{Code: CodeLimit, Detail: limit.Sentence()}
}
