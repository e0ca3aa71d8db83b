package models

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"postern/migrations"
	"postern/platform/fault"
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
		last, err := readRelationCursor(page.Cursor, page.Sort.By)
		if err != nil {
			return List[Relation]{}, err
		}
		marks := strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ")
		w.rows = w.rows.Session(&gorm.Session{}).
			Where("("+strings.Join(columns, ", ")+") "+comparison+" ("+marks+")", last.values(columns)...)
	}
	cursor := func(row Relation) string { return relationCursor(row, page.Sort.By) }
	return listWindow(w, all, page, cursor)
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

// relationCursor has the values that the orders are by, and the name of the order unless it is the usual one.
func relationCursor(row Relation, order string) string {
	fields := []string{row.TenantID, row.Object, row.Relation, row.User}
	if order != "" {
		fields = append(fields, order, row.CreatedAt.UTC().Format(time.RFC3339Nano))
	}
	text, _ := json.Marshal(fields)
	return base64.RawURLEncoding.EncodeToString(text)
}

// ErrCursor means that a cursor is none of the list.
var ErrCursor = fault.InvalidField("/cursor", "invalid_cursor", "Use next_cursor of the page before.")

func readRelationCursor(cursor, order string) (row Relation, err error) {
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	var fields []string
	if err != nil || json.Unmarshal(text, &fields) != nil || len(fields) < 4 {
		return row, ErrCursor
	}
	row = Relation{TenantID: fields[0], Object: fields[1], Relation: fields[2], User: fields[3]}
	switch rest := fields[4:]; {
	case order == "" && len(rest) == 0:
		return row, nil
	case len(rest) != 2 || !slices.Contains(rest[:1], order):
		return row, ErrCursor
	default:
		if row.CreatedAt, err = time.Parse(time.RFC3339Nano, rest[1]); err != nil {
			return row, ErrCursor
		}
		return row, nil
	}
}
