package models_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"postern/migrations"
	"postern/models"
	"postern/testkit"
	"postern/testkit/state"
)

// The lists of this test have manyRows, of which the first fewRows have another value in every column that is filtered
// by. A filter for one of these values chooses the same few rows, and one for both kinds of values none.
const (
	manyRows = 3 * models.SearchWindow
	fewRows  = 400
)

// part is a filter with which rows are asked for.
type part struct {
	name    string
	few     bool // it chooses fewRows, and all others of manyRows otherwise
	indexed bool // an index finds them
}

// parts are the filters of the names, each with a few rows and with many.
func parts(names ...string) (out []part) {
	for _, name := range names {
		name, indexed := strings.CutSuffix(name, "*")
		out = append(out, part{name, true, indexed}, part{name, false, indexed})
	}
	return out
}

// combined are the filters alone, each two of which one is for a few rows and one for many, and all of those for a few
// rows and for many.
func combined(all []part) [][]part {
	out := [][]part{nil}
	var few, many []part
	for i, one := range all {
		out = append(out, []part{one})
		for _, other := range all[i+1:] {
			if other.name != one.name && one.few != other.few {
				out = append(out, []part{one, other})
			}
		}
		if one.few {
			few = append(few, one)
		} else {
			many = append(many, one)
		}
	}
	return append(out, few, many)
}

// filteredList reads a page of a list. Each of the named filters is few, many or empty.
type filteredList func(t *testing.T, of map[string]string, page models.Page) (found, error)

// listed is a list with filters.
type listed struct {
	table  string // that may not be read beyond the window
	parts  []part
	orders []string
	few    int // rows that match the filters for a few
	read   filteredList
}

// TestLists_filtered reads lists that have more rows than one page looks at, with each two of their filters, with and
// without a text. No page looks at more rows than SearchWindow, unless an index finds them.
func TestLists_filtered(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		project, product := fillKeys(t, db)
		fillUsers(t, db, project)
		fillOwners(t, db, project)
		spread := fillServed(t, db, project)
		ofProduct := project
		ofProduct.ProductID = product
		byAge := []string{"", "created", "-created"}
		statements := watch(t, db)
		for name, list := range testkit.ByName(map[string]listed{
			"keys": {
				"api_keys", parts("owner*", "state*", "tenant*", "type*", "environment"),
				append(byAge, "owner", "-owner", "last_used", "-last_used"), fewRows * 3 / 4, keysIn(db, project),
			},
			"keys of a product": {
				"api_keys", parts("owner*", "state", "type"),
				append(byAge, "owner", "-owner", "last_used", "-last_used"), fewRows, keysIn(db, ofProduct),
			},
			"users":              {"end_users", parts("state*", "group*"), byAge, fewRows, usersIn(db, project)},
			"users of a project": {"end_users", parts("state*"), byAge, fewRows, servedUsersIn(db, spread)},
			"relations": {
				"relations", parts("tenant*", "user*"), append(byAge, "object", "-object"), fewRows,
				relationsIn(db, project),
			},
		}) {
			t.Run(name, func(t *testing.T) {
				for i, of := range combined(list.parts) {
					for _, text := range []string{"", "nothing like it"} {
						order := list.orders[i%len(list.orders)]
						t.Run(fmt.Sprintf("%v by %q %q", of, order, text), func(t *testing.T) {
							*statements = nil
							page := models.Page{Text: text, Limit: 200, Count: len(of) < 2}
							page.Sort = models.ParseSort(order)
							list.check(t, of, page)
							explained := map[string]bool{}
							for _, one := range *statements {
								if !explained[one.sql] {
									one.bounded(t, db, list.table)
								}
								explained[one.sql] = true
							}
						})
					}
				}
			})
		}
	})
}

// check reads the pages of a list, as long as there are more, or until it has shown that there are many.
func (l listed) check(t *testing.T, of []part, page models.Page) {
	t.Helper()
	values, want, quick := map[string]string{}, manyRows-fewRows, false
	few, many := false, false
	for _, one := range of {
		values[one.name] = map[bool]string{true: "few", false: "many"}[one.few]
		few, many = few || one.few, many || !one.few
		quick = quick || one.few && one.indexed
	}
	if few {
		want = l.few
	}
	if few && many || page.Text != "" {
		want = 0
	}
	first, err := l.read(t, values, page)
	if err != nil {
		t.Fatal(err)
	}
	if want == 0 && (first.items != "" || first.partial == quick) {
		t.Errorf("the first page is %+v, want none: of few rows that an index finds: %v", first, quick)
	}
	if want > l.few {
		if first.next == "" || page.Count && first.total < models.SearchWindow-fewRows {
			t.Errorf("the first page is not one of many: %+v", first)
		}
		return
	}
	n := strings.Count(first.items, " ")
	for pages := 0; first.next != ""; pages++ {
		if pages > manyRows/models.SearchWindow+want/page.Limit+1 {
			t.Fatalf("the list does not end")
		}
		page.Cursor = first.next
		if first, err = l.read(t, values, page); err != nil {
			t.Fatal(err)
		}
		n += strings.Count(first.items, " ")
	}
	if n != want {
		t.Errorf("all pages have %d rows, want %d", n, want)
	}
}

// query is a statement that a list has read.
type query struct {
	sql  string
	vars []any
}

func watch(t *testing.T, db *models.DB) *[]query {
	t.Helper()
	var list []query
	if err := db.OnQuery(func(sql string, vars []any) { list = append(list, query{sql, vars}) }); err != nil {
		t.Fatal(err)
	}
	return &list
}

// bounded checks that a query stops after SearchWindow rows of a table, or of each of the two that are merged for a
// product, or of all together that are merged for the tenants of a project. PostgreSQL counts them, with those that it
// skips because there are few; SQLite must not scan or sort the table.
func (q query) bounded(t *testing.T, db *models.DB, table string) {
	t.Helper()
	if db.Dialect() == migrations.Postgres {
		if n := q.rowsRead(t, db, table, onlyIndexes); n > 2*(models.SearchWindow+fewRows)+10 {
			t.Errorf("it reads %d rows of %s:\n%s", n, table, q.sql)
		}
		return
	}
	for parent, sorts := range q.scans(t, db, table) {
		if sorts {
			t.Errorf("it sorts the rows of %s below step %d:\n%s", table, parent, q.sql)
		}
	}
}

// scans checks that SQLite doesn't scan a table, and returns the steps of its plan below which it reads the table, each
// with whether it sorts what it reads.
func (q query) scans(t *testing.T, db *models.DB, table string) map[int]bool {
	t.Helper()
	rows, err := db.SQL().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+q.sql, q.vars...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	derived, reads, sorts := map[string]bool{}, map[int]bool{}, map[int]bool{}
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		verb, of, _ := strings.Cut(step, " ")
		of, _, _ = strings.Cut(of, " ")
		switch {
		case verb == "CO-ROUTINE" || verb == "MATERIALIZE":
			derived[of] = true
		case verb == "SEARCH":
			if of == table {
				reads[parent] = false
			}
		case verb == "SCAN" && of == table && !derived[of]:
			t.Errorf("it scans %s:\n%s", of, q.sql)
		case strings.HasPrefix(step, "USE TEMP B-TREE FOR ORDER BY"):
			sorts[parent] = true
		}
	}
	for parent := range reads {
		reads[parent] = sorts[parent]
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return reads
}

// planNode is a part of a plan of PostgreSQL, with what it has read.
type planNode struct {
	Relation string     `json:"Relation Name"`
	Rows     float64    `json:"Actual Rows"`
	Loops    float64    `json:"Actual Loops"`
	Removed  float64    `json:"Rows Removed by Filter"`
	Rechecks float64    `json:"Rows Removed by Index Recheck"`
	Plans    []planNode `json:"Plans"`
}

func (p planNode) rowsRead(table string) (n int) {
	if p.Relation == table {
		n = int((p.Rows + p.Removed + p.Rechecks) * p.Loops)
	}
	for _, part := range p.Plans {
		n += part.rowsRead(table)
	}
	return n
}

// Settings of PostgreSQL, which prefers to read or sort a whole table that is as small as in a test.
const (
	noScan      = "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; "
	onlyIndexes = noScan + "SET LOCAL enable_sort = off"
)

// rowsRead returns how many rows of a table a query reads with some settings of PostgreSQL.
func (q query) rowsRead(t *testing.T, db *models.DB, table, settings string) int {
	t.Helper()
	tx, err := db.SQL().BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(t.Context(), settings); err != nil {
		t.Fatal(err)
	}
	var text string
	row := tx.QueryRowContext(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+q.sql, q.vars...)
	if err := row.Scan(&text); err != nil {
		t.Fatalf("%v:\n%s", err, q.sql)
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		t.Fatal(err)
	}
	return plans[0].Plan.rowsRead(table)
}
