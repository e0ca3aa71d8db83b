package models

import (
	"slices"
	"strings"
)

// UsageOf sums a project's calls of the hours from (inclusive) to (exclusive) by the columns given: at most limit
// groups, those with the most calls. Without a column there is one. Whole days that are folded are read from rows by
// the day, and by spans of days, unless hours or days are asked for.
func (t *Tx) UsageOf(projectID string, from, to int64, by []string, limit int) ([]UsageSum, error) {
	first, last := (from+23)/24, to/24 // whole days
	if slices.Contains(by, UsageByHour) || first >= last {
		return t.sumUsage(projectID, by, limit, []usagePart{hoursPart(from, to)})
	}
	folds, err := t.foldsOf(projectID)
	if err != nil {
		return nil, err
	}
	fold, ok := folds[projectID]
	if last = min(last, fold.ThroughDay+1); !ok || first >= last {
		return t.sumUsage(projectID, by, limit, []usagePart{hoursPart(from, to)})
	}
	var parts []usagePart
	if from < first*24 {
		parts = append(parts, hoursPart(from, first*24))
	}
	parts = append(parts, fold.parts(first, last, !slices.Contains(by, UsageByDay))...)
	if last*24 < to {
		parts = append(parts, hoursPart(last*24, to))
	}
	return t.sumUsage(projectID, by, limit, parts)
}

// parts returns the parts of folded days, out of as few rows as possible if spans may be used.
func (f *UsageFold) parts(first, last int64, spans bool) []usagePart {
	if !spans {
		return []usagePart{daysPart(first, last)}
	}
	var out []usagePart
	for day := first; day < last; {
		length, from := f.longest(day, last), day
		for day < last && f.longest(day, last) == length {
			day += length
		}
		if length == 1 {
			out = append(out, daysPart(from, day))
		} else {
			out = append(out, spansPart(length, from/length, day/length))
		}
	}
	return out
}

// usagePart is a part of a project's usage.
type usagePart struct {
	rows string // table and condition
	day  string // first day of a row
	args []any  // of the condition, after the project's id
}

func hoursPart(from, to int64) usagePart {
	return usagePart{
		rows: "usage_hours WHERE project_id = ? AND hour >= ? AND hour < ?",
		day:  "hour / 24",
		args: []any{from, to},
	}
}

func daysPart(from, to int64) usagePart {
	return usagePart{
		rows: "usage_days WHERE project_id = ? AND day >= ? AND day < ?",
		day:  "day",
		args: []any{from, to},
	}
}

func spansPart(days, from, to int64) usagePart {
	return usagePart{
		rows: "usage_spans WHERE project_id = ? AND days = ? AND since >= ? AND since < ?",
		day:  "since * days",
		args: []any{days, from, to},
	}
}

// sumUsage sums parts.
func (t *Tx) sumUsage(projectID string, by []string, limit int, parts []usagePart) ([]UsageSum, error) {
	columns, of := usageColumnsOf(by)
	var args []any
	var sources []string
	for _, part := range parts {
		sources = append(sources, part.source(of))
		args = append(append(args, projectID), part.args...)
	}
	union := strings.Join(sources, " UNION ALL ")
	if slices.Contains(by, UsageByTenant) { // which are looked up once for each key and owner
		group := strings.Join(of, ", ")
		union = "SELECT sums.*, coalesce(api_keys.tenant_id, end_users.tenant_id, '') AS tenant_id FROM (SELECT " +
			group + ", " + usageTotals + " FROM (" + union + ") AS parts GROUP BY " + group + ") AS sums LEFT JOIN " +
			"api_keys ON api_keys.id = sums.key_id LEFT JOIN end_users ON end_users.id = sums.owner"
	}
	statement := "SELECT " + strings.Join(append(columns, usageTotals), ", ") + " FROM (" + union + ") AS sources"
	if len(columns) > 0 {
		statement += " GROUP BY " + strings.Join(columns, ", ")
	}
	var list []UsageSum
	return list, t.db.Raw(statement+" ORDER BY sum(calls) DESC LIMIT ?", append(args, limit)...).Scan(&list).Error
}

// PostgreSQL's sum of BIGINT is NUMERIC.
const usageTotals = "CAST(coalesce(sum(calls), 0) AS BIGINT) AS calls, CAST(coalesce(sum(bytes_in), 0) AS BIGINT) AS " +
	"bytes_in, CAST(coalesce(sum(bytes_out), 0) AS BIGINT) AS bytes_out"

// source returns the statement that reads the columns of a part.
func (p usagePart) source(columns []string) string {
	var read []string
	for _, column := range columns {
		if column == UsageByDay {
			column = p.day + " AS day"
		}
		read = append(read, column)
	}
	return "SELECT " + strings.Join(append(read, "calls", "bytes_in", "bytes_out"), ", ") + " FROM " + p.rows
}

// usageColumnsOf returns the columns of sums, and those that they are made of.
func usageColumnsOf(by []string) (columns, of []string) {
	for _, name := range by {
		columns = append(columns, usageColumns[name].name)
		for _, column := range usageColumns[name].from {
			if !slices.Contains(of, column) {
				of = append(of, column)
			}
		}
	}
	return columns, of
}

// usageColumn is a dimension to group usage by: the column of the sums, and its source.
type usageColumn struct {
	name string
	from []string
}

func plainColumn(name string) usageColumn { return usageColumn{name, []string{name}} }

// usageColumns has what usage can be grouped by; nothing else reaches a statement.
var usageColumns = map[string]usageColumn{
	UsageByHour:        plainColumn(UsageByHour),
	UsageByDay:         plainColumn(UsageByDay),
	UsageByEnvironment: plainColumn(UsageByEnvironment),
	UsageByOwner:       plainColumn(UsageByOwner),
	UsageByKey:         plainColumn(UsageByKey),
	UsageByRoute:       plainColumn(UsageByRoute),
	UsageByStatusClass: plainColumn(UsageByStatusClass),
	UsageByTenant:      {UsageByTenant, []string{UsageByKey, UsageByOwner}},
}
