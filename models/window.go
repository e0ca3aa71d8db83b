package models

import "gorm.io/gorm"

// SearchWindow bounds how many rows one page of a list without an end looks at, so that a search which finds few among
// millions of rows takes no longer than another.
const SearchWindow = MaxTotal

// condition is a part of a WHERE clause.
type condition struct {
	sql  string
	vars []any
}

func all(conditions []condition) (sql string, vars []any) {
	for i, c := range conditions {
		if i > 0 {
			sql += " AND "
		}
		sql += "(" + c.sql + ")"
		vars = append(vars, c.vars...)
	}
	return sql, vars
}

// window is the beginning of rows in an order, which an index has for lists that may have millions, and what is
// searched for in it.
type window struct {
	rows  *gorm.DB // without an order and a limit
	table string   // whose columns order and match name
	order func(*gorm.DB) *gorm.DB
	match []condition
}

// by orders by columns.
func by(columns string) func(*gorm.DB) *gorm.DB {
	return func(q *gorm.DB) *gorm.DB { return q.Order(columns) }
}

// whole reports whether every row of the window matches.
func (w window) whole() bool { return len(w.match) == 0 }

// rowsOf are the rows, in no order.
func rowsOf[T any](w window) *gorm.DB {
	q := w.rows.Session(&gorm.Session{})
	if q.Statement.Model == nil {
		q = q.Model(new(T))
	}
	return q
}

// firstOf are the rows that are looked at.
func firstOf[T any](w window) *gorm.DB { return w.order(rowsOf[T](w)).Limit(SearchWindow) }

func (w window) of(rows *gorm.DB) *gorm.DB {
	return rows.Session(&gorm.Session{NewDB: true}).Table("(?) AS "+w.table, rows)
}

// readWindow returns at most limit rows that match, and the last row that was looked at if there are rows after it.
func readWindow[T any](w window, limit int) (found []T, end *T, err error) {
	if w.whole() {
		return found, nil, w.order(rowsOf[T](w)).Limit(limit).Find(&found).Error
	}
	sql, vars := all(w.match)
	err = w.order(w.of(firstOf[T](w)).Where(sql, vars...)).Limit(limit).Find(&found).Error
	if err != nil || len(found) == limit {
		return found, nil, err
	}
	var last []T
	err = w.order(rowsOf[T](w)).Offset(SearchWindow - 1).Limit(2).Find(&last).Error
	if err != nil || len(last) < 2 {
		return found, nil, err
	}
	return found, &last[0], nil
}

// listWindow reads the page that w begins with. all is the window of the first page.
func listWindow[T any](w, all window, page Page, cursor func(T) string) (list List[T], err error) {
	rows, end, err := readWindow[T](w, page.Size()+1)
	switch {
	case err != nil:
		return list, err
	case end != nil:
		return List[T]{Items: rows, Next: cursor(*end), Partial: true}, nil
	}
	list = Cut(rows, page, cursor)
	switch {
	case !page.Count:
		return list, nil
	case page.Cursor == "" && list.Next == "":
		list.Total = int64(len(list.Items))
		return list, nil
	}
	n, complete, err := countWindow[T](all)
	list.Total, list.AtLeast = n, !complete
	return list, err
}

// countWindow counts the rows that match, and returns MaxTotal+1 if there are more than MaxTotal. It returns false if
// there can be more after those that it looked at.
func countWindow[T any](w window) (n int64, complete bool, err error) {
	if w.whole() {
		n, err = countSome(rowsOf[T](w))
		return n, true, err
	}
	sql, vars := all(w.match)
	var counted struct{ Seen, Matching int64 }
	err = w.of(firstOf[T](w)).
		Select("count(*) AS seen, count(CASE WHEN "+sql+" THEN 1 END) AS matching", vars...).
		Take(&counted).Error
	return counted.Matching, counted.Seen < SearchWindow, err
}
