package models

import (
	"fmt"
	"strings"

	"gorm.io/gorm"

	"postern/migrations"
)

// relationOrders are the columns of each order. All end with those that tell the relations of a project apart.
var relationOrders = map[string][]string{
	"":        {"tenant_id", "object", "relation", `"user"`},
	"object":  {"object", "tenant_id", "relation", `"user"`},
	"user":    {`"user"`, "tenant_id", "object", "relation"},
	"created": {"created_at", "tenant_id", "object", "relation", `"user"`},
}

// RelationsOf lists relations of a project by tenant, object, relation and user, or in the order of the page: object,
// user or created. Text is searched for in objects and users.
func (t *Tx) RelationsOf(projectID string, f RelationFilter, page Page) (List[Relation], error) {
	columns, ok := relationOrders[page.Sort.By]
	if !ok {
		return List[Relation]{}, fmt.Errorf("%w: %q", ErrSort, page.Sort.By)
	}
	comparison, direction := ">", ""
	if page.Sort.Desc {
		comparison, direction = "<", " DESC"
	}
	w := window{
		rows:  t.relations(projectID, f),
		table: "relations",
		order: by(strings.Join(columns, direction+", ") + direction),
	}
	if page.Text != "" {
		w.match = []condition{t.contains(page.Text, "object", `"user"`)}
	}
	few, err := t.ownsFew(projectID, f)
	if err != nil {
		return List[Relation]{}, err
	}
	if few {
		w.rows = t.chosenRelations(t.db.Where(notIndexed+" = ?", projectID), f)
	}
	all := w
	if page.Cursor != "" {
		last, err := readRelationCursor(page.Cursor, page.Sort)
		if err != nil {
			return List[Relation]{}, err
		}
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
		w.rows = w.rows.Session(&gorm.Session{}).
			Where("("+strings.Join(columns, ", ")+") "+comparison+" ("+marks+")", last.values(columns)...)
	}
	return listWindow(w, all, page, func(row Relation) string { return relationCursor(row, page.Sort) })
}

// ownsFew reports whether the relations of a user are read by the index of users and sorted. Without being told, SQLite
// reads the project in the order of the list, until it has found enough of them.
func (t *Tx) ownsFew(projectID string, f RelationFilter) (bool, error) {
	if f.User == "" || f.Object != "" || t.dialect != migrations.SQLite {
		return false, nil
	}
	n, err := countSome(t.relations(projectID, RelationFilter{User: f.User}).Model(&Relation{}))
	return n <= MaxTotal, err
}

// values are those of the columns.
func (r Relation) values(columns []string) (out []any) {
	of := map[string]any{
		"tenant_id":  r.TenantID,
		"object":     r.Object,
		"relation":   r.Relation,
		`"user"`:     r.User,
		"created_at": r.CreatedAt,
	}
	for _, column := range columns {
		out = append(out, of[column])
	}
	return out
}

// relationCursor is the cursor of a page that ends with a row. A relation has no id: it is all of its names.
func relationCursor(row Relation, order Sort) string {
	names := []string{row.TenantID, row.Object, row.Relation, row.User}
	return position{Order: order, Time: row.CreatedAt.UTC(), ID: strings.Join(names, "\x00")}.cursor()
}

func readRelationCursor(cursor string, order Sort) (Relation, error) {
	last, err := readCursor(cursor, order)
	if err != nil {
		return Relation{}, err
	}
	names := strings.Split(last.ID, "\x00")
	if len(names) != 4 {
		return Relation{}, ErrCursor
	}
	return Relation{
		TenantID: names[0], Object: names[1], Relation: names[2], User: names[3], CreatedAt: last.Time,
	}, nil
}
