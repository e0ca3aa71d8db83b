package models

import (
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// relationOrders are the columns of each order. Each order includes the columns that identify a relation of a project.
var relationOrders = map[string][]string{
	"":        {"tenant_id", "object", "relation", `"user"`},
	"object":  {"object", "tenant_id", "relation", `"user"`},
	"user":    {`"user"`, "tenant_id", "object", "relation"},
	"created": {"created_at", "tenant_id", "object", "relation", `"user"`},
}

// ordersInTenant are the orders that an index has within one tenant.
var ordersInTenant = []string{"", "object"}

// RelationsOf lists relations of a project by tenant, object, relation and user, or in the page's order: object, user
// or created. It searches objects and users for the page's Text.
func (t *Tx) RelationsOf(projectID string, f RelationFilter, page Page) (List[Relation], error) {
	columns, ok := relationOrders[page.Sort.By]
	if !ok {
		return List[Relation]{}, fmt.Errorf("%w: %q", ErrSort, page.Sort.By)
	}
	if f.TenantID != "" && slices.Contains(ordersInTenant, page.Sort.By) { // so that SQLite seeks by the others
		columns = slices.DeleteFunc(slices.Clone(columns), func(name string) bool { return name == "tenant_id" })
	}
	comparison, direction := ">", ""
	if page.Sort.Desc {
		comparison, direction = "<", " DESC"
	}
	ofProject := t.db.Model(&Relation{}).Where("project_id = ?", projectID)
	rows, err := t.choose(&page, []*gorm.DB{ofProject}, t.relationChoices(projectID, f))
	if err != nil {
		return List[Relation]{}, err
	}
	if page.Text != "" {
		page.match = append(page.match, t.contains(page.Text, "object", `"user"`))
	}
	w := window{
		rows:  rows,
		table: "relations",
		order: by(strings.Join(columns, direction+", ") + direction),
		match: page.match,
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

// relationChoices are the parts of a filter.
func (t *Tx) relationChoices(projectID string, f RelationFilter) (out []choice) {
	add := func(of RelationFilter, orders []string, sql string, vars ...any) {
		rows := []*gorm.DB{t.relations(projectID, of).Model(&Relation{})}
		out = append(out, choice{condition: condition{sql, vars}, rows: rows, orders: orders})
	}
	if f.TenantID != "" {
		add(RelationFilter{TenantID: f.TenantID}, ordersInTenant, "tenant_id = ?", f.TenantID)
	}
	switch {
	case f.Object != "" && f.User != "": // one relation in each tenant, though both can have many others
		add(RelationFilter{Object: f.Object, User: f.User}, nil, `object = ? AND "user" = ?`, f.Object, f.User)
	case f.Object != "":
		add(RelationFilter{Object: f.Object}, nil, "object = ?", f.Object)
	case f.User != "":
		add(RelationFilter{User: f.User}, nil, `"user" = ?`, f.User)
	}
	if f.Relation != "" {
		out = append(out, choice{condition: condition{"relation = ?", []any{f.Relation}}})
	}
	return out
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
