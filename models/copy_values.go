package models

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// sourceRows are the rows of a SQLite table as pgx copies them to PostgreSQL. It implements
// pgx.CopyFromSource.
type sourceRows struct {
	rows    *sql.Rows
	columns []copiedColumn
	values  []any
	sum     rowSum
	err     error
}

// Next implements pgx.CopyFromSource.
func (s *sourceRows) Next() bool {
	if s.err != nil || !s.rows.Next() {
		return false
	}
	s.values = make([]any, len(s.columns))
	into := make([]any, len(s.columns))
	for i := range into {
		into[i] = &s.values[i]
	}
	if s.err = s.rows.Scan(into...); s.err != nil {
		return false
	}
	for i, column := range s.columns {
		if s.values[i], s.err = column.convert(s.values[i]); s.err != nil {
			s.err = fmt.Errorf("column %s of row %d: %w", column.name, s.sum.rows+1, s.err)
			return false
		}
	}
	s.err = s.sum.add(s.columns, s.values)
	return s.err == nil
}

// Values implements pgx.CopyFromSource.
func (s *sourceRows) Values() ([]any, error) { return s.values, nil }

// Err implements pgx.CopyFromSource.
func (s *sourceRows) Err() error {
	if s.err != nil {
		return s.err
	}
	return s.rows.Err()
}

// The types of columns, as information_schema names them.
const (
	kindText    = "text"
	kindBigint  = "bigint"
	kindInteger = "integer"
	kindBool    = "boolean"
	kindTime    = "timestamp with time zone"
	kindBytes   = "bytea"
	kindJSON    = "jsonb"
)

// convert returns a value of SQLite, whose columns may hold any type, as one of the
// column's type on PostgreSQL.
func (c copiedColumn) convert(value any) (any, error) {
	if value == nil {
		if c.kind == kindBytes && !c.nullable {
			return []byte{}, nil // the driver's form of an empty value
		}
		return nil, nil
	}
	switch c.kind {
	case kindText, kindJSON:
		return storable(value)
	case kindBigint, kindInteger:
		if n, ok := value.(int64); ok {
			return n, nil
		}
	case kindBool:
		switch v := value.(type) {
		case bool:
			return v, nil
		case int64:
			return v != 0, nil
		}
	case kindTime:
		switch v := value.(type) {
		case time.Time:
			return v.UTC().Truncate(time.Microsecond), nil
		case string:
			at, err := time.Parse("2006-01-02 15:04:05.999999999-07:00", v)
			return at.UTC().Truncate(time.Microsecond), err
		}
	case kindBytes:
		switch v := value.(type) {
		case []byte:
			return append([]byte{}, v...), nil // an empty value may be a nil slice, which would be NULL
		case string:
			return []byte(v), nil
		}
	}
	return nil, fmt.Errorf("a value of type %T can't be converted to %s", value, c.kind)
}

// storable returns a text that PostgreSQL accepts.
func storable(value any) (string, error) {
	var text string
	switch v := value.(type) {
	case string:
		text = v
	case []byte:
		text = string(v)
	default:
		return "", fmt.Errorf("a value of type %T can't be converted to text", value)
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return "", fmt.Errorf("PostgreSQL can't store text with NUL bytes or invalid UTF-8: correct the text in the " +
			"dashboard or with the API, then copy again")
	}
	return text, nil
}

// rowSum sums up the rows of a table, in any order: two tables with equal sums have equal
// rows.
type rowSum struct {
	rows int64
	sum  [4]uint64 // of SHA-256, modulo 2⁶⁴ by word
}

func (s *rowSum) add(columns []copiedColumn, values []any) error {
	hash := sha256.New()
	for i, column := range columns {
		text, err := column.canonical(values[i])
		if err != nil {
			return fmt.Errorf("column %s: %w", column.name, err)
		}
		length := uint64(len(text)) + 1
		if values[i] == nil {
			length = 0
		}
		hash.Write(binary.BigEndian.AppendUint64(nil, length))
		hash.Write(text)
	}
	digest := hash.Sum(nil)
	for i := range s.sum {
		s.sum[i] += binary.BigEndian.Uint64(digest[8*i:])
	}
	s.rows++
	return nil
}

// canonical returns bytes that are equal where the values of both databases are.
func (c copiedColumn) canonical(value any) ([]byte, error) {
	if value == nil {
		return nil, nil
	}
	if c.kind == kindJSON {
		if text, ok := value.(string); ok {
			value = nil
			if err := json.Unmarshal([]byte(text), &value); err != nil {
				return nil, err
			}
		}
		return json.Marshal(value) // PostgreSQL orders members, and changes spaces
	}
	switch v := value.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	case int64:
		return binary.BigEndian.AppendUint64(nil, uint64(v)), nil
	case int32:
		return binary.BigEndian.AppendUint64(nil, uint64(int64(v))), nil
	case bool:
		if v {
			return []byte{1}, nil
		}
		return []byte{0}, nil
	case time.Time:
		return binary.BigEndian.AppendUint64(nil, uint64(v.UnixMicro())), nil
	}
	return nil, fmt.Errorf("values of type %T can't be compared", value)
}
