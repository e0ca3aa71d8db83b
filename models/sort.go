package models

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"postern/migrations"
	"postern/platform/fault"
)

// Sort is the order of a list by one of the columns that the list offers. Rows with equal values are sorted by ID. The
// zero Sort is the list's default order.
type Sort struct {
	By   string // such as name
	Desc bool
}

// ParseSort parses a Sort such as name or -name.
func ParseSort(text string) Sort {
	by, desc := strings.CutPrefix(text, "-")
	return Sort{By: by, Desc: desc}
}

// The name that lists show of a row with two names, as SQL.
const (
	shownName   = "CASE WHEN display_name = '' THEN name ELSE display_name END"
	shownPerson = "CASE WHEN name = '' THEN email ELSE name END"
	shownMember = "CASE WHEN end_users.name = '' THEN end_users.email ELSE end_users.name END"
)

// ErrSort means that a list can't be sorted by a column.
var ErrSort = errors.New("models: this list can't be sorted this way")

// order is a column that a list can be sorted by. sql is an expression without user input that is never NULL. value
// returns it of a row: a string, an int64 or a time.Time.
type order[T any] struct {
	sql   string
	vars  []any
	value func(T) any
	kind  orderKind

	computed bool // sql is not a column
}

// orderKind is the type of the values of an order.
type orderKind int

const (
	textOrder orderKind = iota
	timeOrder
	numberOrder
)

// orders are the ways to sort a list. Sort.By chooses one of them, so that no text of a caller gets into a statement.
type orders[T any] map[string]order[T]

// byTime orders by a column that may be NULL, which comes before all times.
func byTime[T any](column string, value func(T) *time.Time) order[T] {
	return order[T]{
		sql:  "COALESCE(" + column + ", ?)",
		vars: []any{time.Time{}},
		value: func(row T) any {
			if at := value(row); at != nil {
				return at.UTC()
			}
			return time.Time{}
		},
		kind:     timeOrder,
		computed: true,
	}
}

// byNumber orders by a whole number.
func byNumber[T any](column string, value func(T) int64) order[T] {
	return order[T]{sql: column, value: func(row T) any { return value(row) }, kind: numberOrder}
}

// byID orders by the id, which is by age.
func byID[T any](column string, id func(T) string) order[T] {
	return order[T]{sql: column, value: func(row T) any { return id(row) }}
}

// byText orders by a text in any case of ASCII letters.
func byText[T any](t *Tx, column string, value func(T) string) order[T] {
	return order[T]{sql: t.folded(column), value: func(row T) any { return foldASCII(value(row)) }, computed: true}
}

// folded is an SQL expression of a text with its ASCII letters in lowercase, which foldASCII
// computes too. PostgreSQL's lower depends on the collation otherwise, and SQLite's maps ASCII
// letters only.
func (t *Tx) folded(column string) string {
	if t.dialect == migrations.Postgres {
		column = "(" + column + `) COLLATE "C"`
	}
	return "lower(" + column + ")"
}

func foldASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// sorted runs q for one page in the requested order. idColumn is unique, and id returns it of a row.
func sorted[T any](q *gorm.DB, page Page, offered orders[T], idColumn string, id func(T) string) (List[T], error) {
	by := page.Sort
	o, ok := offered[by.By]
	if !ok {
		return List[T]{}, fmt.Errorf("%w: %q", ErrSort, by.By)
	}
	comparison, direction := ">", ""
	if by.Desc {
		comparison, direction = "<", " DESC"
	}
	after := func(q *gorm.DB) *gorm.DB { return q }
	if page.Cursor != "" {
		last, err := readCursor(page.Cursor, by)
		if err != nil {
			return List[T]{}, err
		}
		value := append(slices.Clone(o.vars), o.valueAt(last))
		after = func(q *gorm.DB) *gorm.DB {
			if o.computed {
				// SQLite begins at a place in an index of an expression for a comparison of that alone, not of a row.
				// With one of a column alone, it would begin at the first row that has the value.
				q = q.Where(o.sql+" "+comparison+"= ?", value...)
			}
			return q.Where("("+o.sql+", "+idColumn+") "+comparison+" (?, ?)", append(value, last.ID)...)
		}
	}
	order := func(q *gorm.DB) *gorm.DB {
		return q.Clauses(clause.OrderBy{Expression: clause.Expr{
			SQL:  o.sql + direction + ", " + idColumn + direction,
			Vars: o.vars,
		}})
	}
	return fetchPage(q, after, page, order, func(row T) string { return o.position(row, id(row), by).cursor() })
}

// position is where a page of a list ends: the order of the list, the last row's value in it, and its id. A cursor is
// its text, which callers don't read.
type position struct {
	Order  Sort      `json:"order,omitzero"`
	Text   string    `json:"text,omitempty"`
	Time   time.Time `json:"time,omitzero"`
	Number int64     `json:"number,omitempty"`
	ID     string    `json:"id"`
}

func (p position) cursor() string {
	text, _ := json.Marshal(p) // nothing in it cannot be encoded
	return base64.RawURLEncoding.EncodeToString(text)
}

// ErrCursor means that a cursor is from another list or another order.
var ErrCursor = fault.InvalidField("/cursor", "invalid_cursor",
	"Use the next_cursor from the previous page, with the same sort order.")

// readCursor returns the position that is in a cursor of a list in an order.
func readCursor(cursor string, order Sort) (p position, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || json.Unmarshal(text, &p) != nil || p.ID == "" || p.Order != order {
		return position{}, ErrCursor
	}
	return p, nil
}

func (o order[T]) position(row T, id string, by Sort) position {
	p := position{Order: by, ID: id}
	switch value := o.value(row).(type) {
	case string:
		p.Text = value
	case time.Time:
		p.Time = value
	case int64:
		p.Number = value
	}
	return p
}

// valueAt is the value of the last row, as the order compares it.
func (o order[T]) valueAt(last position) any {
	switch o.kind {
	case timeOrder:
		return last.Time
	case numberOrder:
		return last.Number
	}
	return last.Text
}

// searching narrows a page to rows of which one of the columns contains its text, in any case of
// ASCII letters. One page looks at SearchWindow rows.
func (t *Tx) searching(page Page, columns ...string) Page {
	if page.Text != "" {
		page.match = []condition{t.contains(page.Text, columns...)}
	}
	return page
}

// contains is the condition that one of the columns contains the text, in any case of ASCII letters.
func (t *Tx) contains(text string, columns ...string) condition {
	like := "%" + escapeLike(foldASCII(text)) + "%"
	var parts []string
	var vars []any
	for _, column := range columns {
		if t.dialect == migrations.Postgres { // SQLite's LIKE ignores the case of ASCII letters itself
			column = t.folded(column)
		}
		parts = append(parts, column+` LIKE ? ESCAPE '\'`)
		vars = append(vars, like)
	}
	return condition{strings.Join(parts, " OR "), vars}
}
