package models

import (
	"encoding/json"
	"strings"
	"time"

	"postern/migrations"
)

// auditIndexed is a condition that an index has in the order of the log.
type auditIndexed struct {
	condition
	byTeam bool // the index begins with the team
}

// auditWindow reads the entries of a filter by the index of the one of its conditions that chooses the fewest. Two
// conditions, of which each chooses many, can have little in common.
func (t *Tx) auditWindow(f AuditFilter) (window, error) {
	w := window{table: "audit_entries", order: by("number DESC, id DESC"), match: t.auditUnindexed(f)}
	if f.Oldest {
		w.order = by("number, id")
	}
	indexed := f.indexed()
	narrowest, err := t.narrowest(f.TeamID, indexed)
	if err != nil {
		return w, err
	}
	team := "team_id = ?"
	w.rows = t.db
	for i, c := range indexed {
		if i != narrowest {
			w.match = append(w.match, c.condition)
			continue
		}
		w.rows = w.rows.Where(c.sql, c.vars...)
		if !c.byTeam && t.dialect == migrations.SQLite {
			team = "team_id || '' = ?" // an expression, so that the index of all of the team's entries is not chosen
		}
	}
	w.rows = w.rows.Where(team, f.TeamID)
	return w, t.auditPeriod(f, &w)
}

// indexed are the conditions that have an index.
func (f AuditFilter) indexed() (out []auditIndexed) {
	for _, one := range []struct {
		column, value string
		byTeam        bool
	}{
		{"object", f.Object, false},
		{"project_id", f.Project, false},
		{"actor", f.Actor, true},
		{"action", f.Action, true},
	} {
		if one.value != "" {
			out = append(out, auditIndexed{condition{one.column + " = ?", []any{one.value}}, one.byTeam})
		}
	}
	if f.Outcome == OutcomeRefused {
		out = append(out, auditIndexed{condition{"outcome = 'refused'", nil}, true}) // as in the index
	}
	return out
}

// auditUnindexed are the other conditions, but for the period.
func (t *Tx) auditUnindexed(f AuditFilter) (out []condition) {
	if f.Outcome != "" && f.Outcome != OutcomeRefused {
		out = append(out, condition{"outcome = ?", []any{f.Outcome}})
	}
	if f.Text == "" {
		return out
	}
	found := t.contains(f.Text, "object", "action", "actor", "remote_addr", "request_id")
	detail := t.inDetail(f.Text)
	found.sql += " OR (" + detail.sql + ")"
	found.vars = append(found.vars, detail.vars...)
	if len(f.Actors) > 0 {
		found.sql += " OR actor IN ?"
		found.vars = append(found.vars, f.Actors)
	}
	return append(out, found)
}

// inDetail is the condition that a value of the details contains the text; their names do not count.
func (t *Tx) inDetail(text string) condition {
	if t.dialect == migrations.Postgres {
		return t.contains(text, "jsonb_path_query_array(detail, '$.*')::text")
	}
	encoded, _ := json.Marshal(text) // a string can always be encoded
	found := t.contains(strings.Trim(string(encoded), `"`), "detail")
	values := t.contains(text, "(SELECT group_concat(value, ' ') FROM json_each(detail))")
	// SQLite takes ten times as long to take details apart as to look for the text in them.
	return condition{"(" + found.sql + ") AND (" + values.sql + ")", append(found.vars, values.vars...)}
}

// narrowest is the place of the condition that chooses the fewest entries, as far as SearchWindow tells them apart.
func (t *Tx) narrowest(teamID string, conditions []auditIndexed) (int, error) {
	if len(conditions) < 2 {
		return 0, nil
	}
	at, fewest := 0, int64(SearchWindow)
	for i, c := range conditions {
		q := t.db.Model(&AuditEntry{}).Where(c.sql, c.vars...)
		if c.byTeam {
			q = q.Where("team_id = ?", teamID)
		}
		n, err := countUpTo(q, int(fewest))
		if err != nil {
			return 0, err
		}
		if n < fewest {
			at, fewest = i, n
		}
	}
	return at, nil
}

// auditSkew is how far the ids of entries can be from the order of their numbers: an entry gets its number at the end
// of its transaction, and the clocks of replicas differ.
const auditSkew = time.Hour

// auditPeriod bounds the window by the period of a filter. There is no index on times; the ids of entries begin with
// theirs, and in a millisecond they are in any order.
func (t *Tx) auditPeriod(f AuditFilter, w *window) error {
	number := func(where string, at time.Time, order string) (found []int64, err error) {
		return found, t.db.Model(&AuditEntry{}).
			Where("team_id = ? AND id "+where+" ?", f.TeamID, firstID("aud", at)).
			Order("id"+order).
			Limit(1).
			Pluck("number", &found).Error
	}
	if !f.From.IsZero() {
		before, err := number("<", f.From.Add(-auditSkew), " DESC")
		if err != nil {
			return err
		}
		for _, last := range before {
			w.rows = w.rows.Where("number > ?", last)
		}
		w.match = append(w.match, condition{"created_at >= ?", []any{f.From}})
	}
	if !f.To.IsZero() {
		after, err := number(">=", f.To.Add(auditSkew), "")
		if err != nil {
			return err
		}
		for _, first := range after {
			w.rows = w.rows.Where("number < ?", first)
		}
		w.match = append(w.match, condition{"created_at < ?", []any{f.To}})
	}
	return nil
}
