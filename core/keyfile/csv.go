package keyfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"postern/core/filelimits"
)

// csvScanner reads the records of a CSV file (RFC 4180). Unlike encoding/csv, it has limits, continues after a broken
// record, and can read cells in single quotes.
type csvScanner struct {
	in      *bufio.Reader
	comma   byte
	singles bool  // a cell that begins with ' ends with it
	number  int64 // of the record that was read last; the header is 1

	text  []byte // of all cells
	ends  []int  // of each cell in text
	read  int    // bytes of the record
	wrong string // what is wrong with the record's quotes
}

// separator returns the separator that the header of a CSV file has most of.
func separator(begin []byte) byte {
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	best, most := byte(','), 0
	for _, candidate := range []byte(",;\t") {
		count, quoted := 0, false
		for _, c := range line {
			switch {
			case c == '"':
				quoted = !quoted
			case c == candidate && !quoted:
				count++
			}
		}
		if count > most {
			best, most = candidate, count
		}
	}
	return best
}

// next reads a record that isn't empty. It returns io.EOF at the end, and an *Error for a record that it can't find the
// end of.
func (s *csvScanner) next() error {
	for blank := int64(0); ; blank++ {
		if blank > filelimits.KeyRow.Most {
			return errBlank(s.number)
		}
		if err := s.record(); err != nil {
			return err
		}
		if len(s.ends) > 1 || len(s.text) > 0 || s.wrong != "" {
			return nil
		}
	}
}

// cell returns the text of a cell.
func (s *csvScanner) cell(i int) []byte {
	begin := 0
	if i > 0 {
		begin = s.ends[i-1]
	}
	return s.text[begin:s.ends[i]]
}

func (s *csvScanner) record() error {
	s.number++
	s.text, s.ends, s.read, s.wrong = s.text[:0], s.ends[:0], 0, ""
	for {
		last, err := s.scanCell()
		if err != nil {
			return err
		}
		s.ends = append(s.ends, len(s.text))
		if int64(len(s.ends)) > filelimits.KeyColumns.Most {
			return limitError(s.number, filelimits.KeyColumns)
		}
		if last {
			return nil
		}
	}
}

// scanCell adds a cell to the text, and reports whether it is the record's last. It returns io.EOF if there is nothing.
func (s *csvScanner) scanCell() (last bool, err error) {
	first, err := s.byte()
	switch {
	case errors.Is(err, io.EOF):
		if s.read == 0 {
			return false, err
		}
		return true, nil // the file ends with a separator
	case err != nil:
		return false, err
	case first == '"' || first == '\'' && s.singles:
		if err := s.quoted(first); err != nil {
			return false, err
		}
	default:
		if err := s.in.UnreadByte(); err != nil {
			return false, err
		}
		s.read--
	}
	for {
		c, err := s.byte()
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		case c == s.comma:
			return false, nil
		case c == '\n':
			return true, nil
		case c == '\r' && s.followedBy('\n'):
		case first == '"':
			s.wrong = "A cell has text after its closing quote. Double each quote inside a quoted cell."
			s.text = append(s.text, c)
		default:
			s.text = append(s.text, c)
		}
	}
}

// quoted adds a cell to the text up to the quote that closes it.
func (s *csvScanner) quoted(quote byte) error {
	begin := s.number
	for {
		c, err := s.byte()
		switch {
		case errors.Is(err, io.EOF):
			return &Error{Row: begin, Code: CodeFormat, Detail: fmt.Sprintf("Row %d has a quote that is never closed. "+
				"Close it, or remove it.", begin)}
		case err != nil:
			return err
		case c != quote:
			s.text = append(s.text, c)
		case s.followedBy(quote):
			s.text = append(s.text, c)
			if _, err := s.byte(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (s *csvScanner) byte() (byte, error) {
	c, err := s.in.ReadByte()
	if err != nil {
		return 0, err
	}
	if s.read++; int64(s.read) > filelimits.KeyRow.Most {
		return 0, limitError(s.number, filelimits.KeyRow)
	}
	return c, nil
}

func (s *csvScanner) followedBy(c byte) bool {
	next, err := s.in.Peek(1)
	return err == nil && next[0] == c
}

func errBlank(row int64) error {
	return &Error{Row: row, Code: CodeLimit, Detail: "The file has more than 1,000,000 empty lines. Remove them."}
}

// limitError returns the error of a file beyond a limit at a row.
func limitError(row int64, limit *filelimits.Limit) error {
	return &Error{Row: row, Code: CodeLimit, Detail: fmt.Sprintf("Row %d: %s", row, limit.Refusal())}
}
