package models

import "errors"

// The result codes of SQLite (https://sqlite.org/rescode.html) for a file that
// is no database or is one no more.
const (
	sqliteCorrupt = 11
	sqliteNotADB  = 26
)

// Damaged tells whether an error says that the SQLite file is damaged or no
// database at all, which no other try will mend.
func Damaged(err error) bool {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return false
	}
	primary := coded.Code() & 0xff // the rest tells kinds of it apart
	return primary == sqliteCorrupt || primary == sqliteNotADB
}
