package models

import "errors"

// SQLite's result codes (https://sqlite.org/rescode.html) for a damaged file, and for a file that isn't a database.
const (
	sqliteCorrupt = 11
	sqliteNotADB  = 26
)

// Damaged reports whether err means that the SQLite file is damaged or is not a database.
// Retrying does not help.
func Damaged(err error) bool {
	code, ok := sqliteCode(err)
	return ok && (code == sqliteCorrupt || code == sqliteNotADB)
}

// sqliteCode is the primary result code of an error of SQLite. The bits above it
// distinguish kinds of the same failure.
func sqliteCode(err error) (int, bool) {
	var coded interface{ Code() int }
	if !errors.As(err, &coded) {
		return 0, false
	}
	return coded.Code() & 0xff, true
}
