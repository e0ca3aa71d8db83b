package keyfile

import "io"

// Reader reads the rows of a file, one at a time.
type Reader struct {
	source  Source
	columns []Column
}

// Open reads the beginning of a file: its format, its columns and its source. It returns an *Error if the file can't be
// read, among others for CSV columns that no field takes, and errors of file unchanged.
func Open(io.Reader, Options) (*Reader, error) {
	return nil, &Error{Code: CodeFormat, Detail: "The reader of key files isn't built."}
}

// Source returns the source that was recognized.
func (r *Reader) Source() Source { return r.source }

// Columns returns the columns of the file with their fields, for a page on which they are mapped.
func (r *Reader) Columns() []Column { return r.columns }

// Next returns the next key, or why a row isn't taken: either refused is empty, or the row is only a number. It returns
// io.EOF at the end, an *Error if the rest can't be read, and errors of the file unchanged. Numbers don't fall. They are
// of records: of a CSV file the first row after the header is 2, as in a spreadsheet; of NDJSON they are lines; in JSON
// they are positions from 1.
func (*Reader) Next() (Row, []Refusal, error) { return Row{}, nil, io.EOF }

// Notes returns what the rows so far lose, in the order of their codes.
func (*Reader) Notes() []Note { return nil }
