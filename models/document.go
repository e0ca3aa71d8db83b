package models

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"net/netip"

	"postern/core/contract"
)

// Limits are in rows that are read without gorm: see limitsColumn.
type Limits = contract.Limits

// limitsColumn scans a column of limits.
type limitsColumn struct{ into **Limits }

// Scan implements sql.Scanner.
func (c limitsColumn) Scan(value any) error {
	if value == nil {
		*c.into = nil
		return nil
	}
	*c.into = new(Limits{})
	return readDocument(value, (*map[string]int64)(*c.into))
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

// TokenIssuers is a column: whose tokens a version takes.
type TokenIssuers []contract.TokenIssuer

// Value implements driver.Valuer.
func (i TokenIssuers) Value() (driver.Value, error) {
	if len(i) == 0 {
		return "[]", nil
	}
	return document([]contract.TokenIssuer(i))
}

// Scan implements sql.Scanner.
func (i *TokenIssuers) Scan(value any) error {
	return readDocument(value, (*[]contract.TokenIssuer)(i))
}

func document(value any) (driver.Value, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("models: write a document: %w", err)
	}
	return string(text), nil
}

func readDocument(value, into any) error {
	var text []byte
	switch v := value.(type) {
	case string:
		text = []byte(v)
	case []byte:
		text = v
	default:
		return fmt.Errorf("models: a document is kept as %T", value)
	}
	if s := string(text); s == "[]" || s == "{}" { // a million keys have neither limits nor ranges
		return nil
	}
	return json.Unmarshal(text, into)
}
