package models

import (
	"cmp"

	"gorm.io/gorm"

	"postern/core/contract"
)

// Limits of Page.Limit.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// MaxTotal bounds List.Total, so that a count doesn't have to read more rows.
const MaxTotal = 10_000

// countSome counts the rows of q, and returns MaxTotal+1 if there are more than MaxTotal.
func countSome(q *gorm.DB) (n int64, err error) { return countUpTo(q, MaxTotal+1) }

// countUpTo counts the rows of q, but reads at most that many.
func countUpTo(q *gorm.DB, most int) (n int64, err error) {
	some := q.Select("1").Limit(most)
	return n, q.Session(&gorm.Session{NewDB: true}).Table("(?) AS counted", some).Count(&n).Error
}

// Page selects one page of a list.
type Page struct {
	Cursor string // List.Next of the previous page, "" for the first page
	Limit  int    // maximum number of items: up to MaxLimit; DefaultLimit if it is 0 or less
	Sort   Sort   // the order, for lists that offer several; must be the same on all pages
	Text   string // for lists that can be searched: items have to contain it; must be the same on all pages
	Count  bool   // requests List.Total

	match []condition // of Text and of filters without an index; see window
	more  []*gorm.DB  // more queries, for a list that no single index finds; see window
	apart condition   // excludes rows of a second query that the first finds too
	of    string      // table of the columns in match and in the order, if the list joins tables
}

// PageOf returns the requested page of the items that contain the text, in the order that sort names.
func PageOf(asked contract.Page, sort, text string) Page {
	return Page{Cursor: asked.Cursor, Limit: asked.Limit, Sort: ParseSort(sort), Text: text, Count: asked.Count}
}

// Size returns the maximum number of items on the page.
func (p Page) Size() int {
	if p.Limit <= 0 {
		return DefaultLimit
	}
	return min(p.Limit, MaxLimit)
}

// List is one page of a list.
type List[T any] struct {
	Items []T
	Next  string // cursor of the next page, "" on the last

	// Total is the number of items on all pages if Page.Count requests it, and MaxTotal+1 if there are more than
	// MaxTotal. It is 0 for lists that aren't read page by page, and for a Partial search.
	Total   int64
	AtLeast bool // there may be more than Total, beyond SearchWindow

	// Partial means that a search stopped at SearchWindow, before the end of the list. It didn't look at the rows from
	// Next on.
	Partial bool
}

// Cut returns the first page of rows. To set Next, it needs at least one row beyond the page. The cursor of a row
// identifies its position in the list.
func Cut[T any](rows []T, page Page, cursor func(T) string) List[T] {
	size := page.Size()
	if len(rows) <= size {
		return List[T]{Items: rows}
	}
	return List[T]{Items: rows[:size], Next: cursor(rows[size-1])}
}

// MapList returns the list with view applied to each item.
func MapList[T, V any](list List[T], view func(T) V) List[V] {
	out := List[V]{Next: list.Next, Total: list.Total, AtLeast: list.AtLeast, Partial: list.Partial}
	for _, item := range list.Items {
		out.Items = append(out.Items, view(item))
	}
	return out
}

// AllPages returns the items of all pages of a list.
func AllPages[T any](fetch func(Page) (List[T], error)) ([]T, error) {
	var all []T
	page := Page{Limit: MaxLimit}
	for {
		list, err := fetch(page)
		if err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if page.Cursor = list.Next; page.Cursor == "" {
			return all, nil
		}
	}
}

// newestFirst runs q for one page in descending order of the ids.
func newestFirst[T any](q *gorm.DB, page Page, id func(T) string) (List[T], error) {
	return unsorted(q, page, "id DESC", "id < ?", id)
}

// ascending runs q for one page in ascending order of a column, whose values are
// unique and not empty.
func ascending[T any](q *gorm.DB, page Page, column string, value func(T) string) (List[T], error) {
	return unsorted(q, page, column, column+" > ?", value)
}

// unsorted runs q for one page in the default order of a list. beyond compares the unique value of a row with that of
// the last row of the page before.
func unsorted[T any](q *gorm.DB, page Page, order, beyond string, value func(T) string) (List[T], error) {
	after := func(q *gorm.DB) *gorm.DB { return q }
	if page.Cursor != "" {
		last, err := readCursor(page.Cursor, page.Sort)
		if err != nil {
			return List[T]{}, err
		}
		after = func(q *gorm.DB) *gorm.DB { return q.Where(beyond, last.ID) }
	}
	return fetchPage(q, after, page, by(order), func(row T) string {
		return position{ID: value(row), Order: page.Sort}.cursor()
	})
}

// fetchPage reads a page of q. after chooses the rows after the page's cursor.
func fetchPage[T any](
	q *gorm.DB, after func(*gorm.DB) *gorm.DB, page Page, order func(*gorm.DB) *gorm.DB, cursor func(T) string,
) (List[T], error) {
	q = q.Session(&gorm.Session{}) // two statements begin with it
	all := window{
		rows: q, more: page.more, apart: page.apart, table: cmp.Or(page.of, "found"), order: order, match: page.match,
	}
	w := all
	w.rows, w.more = after(q), nil
	for _, rows := range page.more {
		w.more = append(w.more, after(rows.Session(&gorm.Session{})))
	}
	return listWindow(w, all, page, cursor)
}
