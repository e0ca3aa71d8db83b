package models

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"slices"

	"gorm.io/gorm"

	"postern/core/contract"
)

// Limits are the value of a column.
type Limits = contract.Limits

// columnsOf returns the names of the columns of a row except for some fields, and where to scan them into it. It is for
// rows of which there are many: GORM scans more slowly. A row that is scanned into has to be empty.
func columnsOf[Row any](db *gorm.DB, row *Row, except ...string) (names []string, into []any, err error) {
	s := gorm.Statement{DB: db}
	if err := s.Parse(row); err != nil {
		return nil, nil, err
	}
	for _, field := range s.Schema.Fields {
		if slices.Contains(except, field.Name) {
			continue
		}
		at := field.ReflectValueOf(db.Statement.Context, reflect.ValueOf(row)).Addr().Interface()
		if field.Serializer != nil {
			at = documentColumn{at}
		}
		names, into = append(names, field.DBName), append(into, at)
	}
	return names, into, nil
}

// documentColumn scans a column of JSON into an empty value.
type documentColumn struct{ into any }

// Scan implements sql.Scanner.
func (c documentColumn) Scan(value any) error {
	if value == nil {
		return nil
	}
	text, err := documentText(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, c.into)
}

// Prefixes is a column: a list of address ranges in CIDR notation.
type Prefixes []netip.Prefix

// Value implements driver.Valuer.
func (p Prefixes) Value() (driver.Value, error) {
	if len(p) == 0 {
		return "[]", nil
	}
	return document([]netip.Prefix(p))
}

// Scan implements sql.Scanner.
func (p *Prefixes) Scan(value any) error {
	if text, ok := value.(string); ok && text == "[]" { // of nearly every key
		*p = Prefixes{}
		return nil
	}
	return readDocument(value, (*[]netip.Prefix)(p))
}

func document(value any) (driver.Value, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("models: write a document: %w", err)
	}
	return string(text), nil
}

func readDocument(value, into any) error {
	text, err := documentText(value)
	if s := string(text); err != nil || s == "[]" || s == "{}" { // a million keys have neither limits nor ranges
		return err
	}
	return json.Unmarshal(text, into)
}

func documentText(value any) ([]byte, error) {
	switch v := value.(type) {
	case string:
		return []byte(v), nil
	case []byte:
		return v, nil
	}
	return nil, fmt.Errorf("models: a document is stored as %T", value)
}
