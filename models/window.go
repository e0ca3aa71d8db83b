package models

import (
	"slices"
	"strings"

	"gorm.io/gorm"

	"postern/migrations"
)

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

func filtered(q *gorm.DB, conditions []condition) *gorm.DB {
	for _, c := range conditions {
		q = q.Where("("+c.sql+")", c.vars...)
	}
	return q
}

// window is the beginning of rows in an order, which an index has for lists that may have millions, and what is
// searched for in it.
type window struct {
	rows  *gorm.DB   // without an order and a limit
	more  []*gorm.DB // more queries of such rows, merged with the others in their order
	apart condition  // of the rows of more that are not among the others; match is not empty then
	table string     // whose columns order and match name
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

// firstOf are the first rows, of which SearchWindow are looked at.
func firstOf[T any](w window, limit int) *gorm.DB {
	if len(w.more) == 0 {
		return w.order(rowsOf[T](w)).Limit(limit)
	}
	first := func(rows *gorm.DB) *gorm.DB { return w.of(w.order(rows).Limit(limit)) } // of one index
	if w.apart.sql == "" && w.rows.Name() == string(migrations.SQLite) {
		// Both databases merge indexes in their order, so that they read no more rows than the limit of all:
		// PostgreSQL if each query has an order and a limit, and SQLite if none has.
		first = func(rows *gorm.DB) *gorm.DB { return rows }
	}
	return w.order(merged[T](w, first)).Limit(limit)
}

// merged are the rows of all queries, in no order. first narrows each query. Rows of more must also match apart, after
// that: an index has all of its first rows.
func merged[T any](w window, first func(rows *gorm.DB) *gorm.DB) *gorm.DB {
	all := []*gorm.DB{first(w.rows.Session(&gorm.Session{}))}
	for _, rows := range w.more {
		all = append(all, first(rows.Session(&gorm.Session{})))
	}
	sql, queries := union(all, w.apart)
	return w.rows.Session(&gorm.Session{NewDB: true}).Model(new(T)).Table(sql+" AS "+w.table, queries...)
}

// union returns SQL for the rows of all queries, in no order. Rows of all but the first query must also match apart.
func union(all []*gorm.DB, apart condition) (sql string, queries []any) {
	for i, rows := range all {
		rows = rows.Session(&gorm.Session{})
		if i > 0 && apart.sql != "" {
			rows = rows.Where(apart.sql, apart.vars...)
		}
		queries = append(queries, rows)
	}
	return "(?" + strings.Repeat(" UNION ALL ?", len(all)-1) + ")", queries
}

func (w window) of(rows *gorm.DB) *gorm.DB {
	return rows.Session(&gorm.Session{NewDB: true}).Table("(?) AS "+w.table, rows)
}

// readWindow returns at most limit rows that match, and the last row that was looked at if there are rows after it.
func readWindow[T any](w window, limit int) (found []T, end *T, err error) {
	if w.whole() {
		return found, nil, firstOf[T](w, limit).Find(&found).Error
	}
	sql, vars := all(w.match)
	err = w.order(w.of(firstOf[T](w, SearchWindow)).Where(sql, vars...)).Limit(limit).Find(&found).Error
	if err != nil || len(found) == limit {
		return found, nil, err
	}
	var last []T
	err = firstOf[T](w, SearchWindow+1).Offset(SearchWindow - 1).Limit(2).Find(&last).Error
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

// countWindow counts the rows that match, and returns MaxTotal+1 if there are more than MaxTotal. complete is false if
// rows after the window might match too.
func countWindow[T any](w window) (n int64, complete bool, err error) {
	if w.whole() {
		rows := rowsOf[T](w)
		if len(w.more) > 0 {
			rows = merged[T](w, func(rows *gorm.DB) *gorm.DB { return rows })
		}
		n, err = countSome(rows)
		return n, true, err
	}
	sql, vars := all(w.match)
	var counted struct{ Seen, Matching int64 }
	err = w.of(firstOf[T](w, SearchWindow)).
		Select("count(*) AS seen, count(CASE WHEN "+sql+" THEN 1 END) AS matching", vars...).
		Take(&counted).Error
	return counted.Matching, counted.Seen < SearchWindow, err
}

// choice is a part of a list's filter.
type choice struct {
	condition
	rows   []*gorm.DB // queries that find the list's rows by an index; none if no index has the condition
	wider  bool       // the index also finds rows that don't match
	orders []string   // the orders of the list that the index has too
}

// choose returns the query whose rows a page of a list looks at. It sets page.match to the conditions that they must
// still match, and page.more to the other queries, if there are several. all are queries of the whole list, each by an
// index in the list's order. If the index of a choice finds fewer than SearchWindow rows, the page sorts these.
// Otherwise it reads the rows of a choice whose index has the list's order, or all rows.
func (t *Tx) choose(page *Page, all []*gorm.DB, choices []choice) (*gorm.DB, error) {
	chosen, fewest := -1, int64(SearchWindow)
	for i, c := range choices {
		if len(c.rows) == 0 {
			continue
		}
		n, err := countUpTo(t.together(c.rows, condition{}), int(fewest)) // rows in both queries count twice
		if err != nil {
			return nil, err
		}
		if n < fewest {
			chosen, fewest = i, n
		}
	}
	rows := all
	if chosen >= 0 {
		few := t.together(choices[chosen].rows, page.apart).Limit(SearchWindow)
		// The limit makes the database sort these rows, instead of reading the whole list in its order.
		rows = []*gorm.DB{t.db.Table("(?) AS listed", few)}
	} else {
		has := func(c choice) bool { return slices.Contains(c.orders, page.Sort.By) }
		if chosen = slices.IndexFunc(choices, has); chosen >= 0 {
			rows = choices[chosen].rows
		}
	}
	for i, c := range choices {
		if i != chosen || c.wider {
			page.match = append(page.match, c.condition)
		}
	}
	page.more = rows[1:]
	return rows[0], nil
}

// together returns the rows of all queries as a single query; see union.
func (t *Tx) together(rows []*gorm.DB, apart condition) *gorm.DB {
	if len(rows) == 1 {
		return rows[0].Session(&gorm.Session{})
	}
	sql, queries := union(rows, apart)
	return t.db.Table(sql+" AS listed", queries...)
}
