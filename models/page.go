package models

import "gorm.io/gorm"

// Bounds of Page.Limit.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// Page selects one page of a list.
type Page struct {
	Cursor string // List.Next of the page before, "" for the first page
	Limit  int    // the most items: at most MaxLimit, DefaultLimit if it is 0 or less
	Sort   Sort   // the order, of lists that offer any; the pages of a list have the same
	Text   string // narrows lists that can be searched to what contains it; the same on all pages too
}

// Size returns the most items that the page holds.
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
}

// Cut returns the page that rows begin with. To set Next, rows has to go at least
// one row beyond the page. The cursor of a row identifies it in the list's order.
func Cut[T any](rows []T, page Page, cursor func(T) string) List[T] {
	size := page.Size()
	if len(rows) <= size {
		return List[T]{Items: rows}
	}
	return List[T]{Items: rows[:size], Next: cursor(rows[size-1])}
}

// MapList returns the list with view applied to each item.
func MapList[T, V any](list List[T], view func(T) V) List[V] {
	out := List[V]{Next: list.Next}
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
	if page.Cursor != "" {
		q = q.Where("id < ?", page.Cursor)
	}
	return fetchPage(q.Order("id DESC"), page, id)
}

// ascending runs q for one page in ascending order of a column, whose values are
// unique and not empty.
func ascending[T any](q *gorm.DB, page Page, column string, value func(T) string) (List[T], error) {
	return fetchPage(q.Where(column+" > ?", page.Cursor).Order(column), page, value)
}

func fetchPage[T any](q *gorm.DB, page Page, cursor func(T) string) (List[T], error) {
	var rows []T
	if err := q.Limit(page.Size() + 1).Find(&rows).Error; err != nil {
		return List[T]{}, err
	}
	return Cut(rows, page, cursor), nil
}
