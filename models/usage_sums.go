package models

import (
	"slices"
	"strings"
)

// UsageOf sums a project's calls of the hours from (inclusive) to (exclusive) by the columns given: at most limit
// groups, those with the most calls. Without a column there is one. Whole days that are folded are read from rows by
// the day, unless the hours are asked for.
func (t *Tx) UsageOf(projectID string, from, to int64, by []string, limit int) ([]UsageSum, error) {
	first, last := (from+23)/24, to/24 // whole days
	if !slices.Contains(by, UsageByHour) && first < last {
		folded, err := t.foldedThrough(projectID)
		if err != nil {
			return nil, err
		}
		through, ok := folded[projectID]
		if !ok {
			through = first - 1
		}
		last = min(last, through+1)
	} else {
		last = first
	}
	if first >= last {
		return t.sumUsage(projectID, by, limit, from, to)
	}
	return t.sumUsage(projectID, by, limit, from, first*24, first, last, last*24, to)
}

// sumUsage sums hours, and with six bounds hours, days and hours.
func (t *Tx) sumUsage(projectID string, by []string, limit int, bounds ...int64) ([]UsageSum, error) {
	of := usageSources(by)
	var args []any
	var parts []string
	source := 0
	for period := range slices.Chunk(bounds, 2) {
		if from, to := period[0], period[1]; source == 0 || from < to {
			parts = append(parts, of[source%2])
			args = append(args, projectID, from, to)
		}
		source++
	}
	columns := ""
	for _, column := range by {
		columns += usageColumns[column].name + ", "
	}
	statement := "SELECT " + columns + usageTotals + " FROM (" + strings.Join(parts, " UNION ALL ") + ") AS sources"
	if slices.Contains(by, UsageByTenant) {
		statement = "SELECT " + columns + usageTotals + " FROM (SELECT sources.*, coalesce(api_keys.tenant_id, " +
			"end_users.tenant_id, '') AS tenant_id FROM (" + strings.Join(parts, " UNION ALL ") + ") AS sources LEFT " +
			"JOIN api_keys ON api_keys.id = sources.key_id LEFT JOIN end_users ON end_users.id = sources.owner) AS " +
			"tenants"
	}
	if len(by) > 0 {
		statement += " GROUP BY " + strings.TrimSuffix(columns, ", ")
	}
	var list []UsageSum
	return list, t.db.Raw(statement+" ORDER BY sum(calls) DESC LIMIT ?", append(args, limit)...).Scan(&list).Error
}

// PostgreSQL's sum of BIGINT is NUMERIC.
const usageTotals = "CAST(coalesce(sum(calls), 0) AS BIGINT) AS calls, CAST(coalesce(sum(bytes_in), 0) AS BIGINT) AS " +
	"bytes_in, CAST(coalesce(sum(bytes_out), 0) AS BIGINT) AS bytes_out"

// usageSources returns the statements that read hours and days with the columns to group by. Each sums up what it
// reads, so that tenants are looked up once for each key and owner.
func usageSources(by []string) [2]string {
	var names []string
	for _, name := range by {
		for _, column := range usageColumns[name].from {
			if !slices.Contains(names, column) {
				names = append(names, column)
			}
		}
	}
	source := func(table, period, day string) string {
		var columns, group []string
		for _, name := range names {
			if name != UsageByDay {
				columns, group = append(columns, name), append(group, name)
			} else {
				columns, group = append(columns, day+" AS day"), append(group, day)
			}
		}
		statement := "SELECT " + strings.Join(append(columns, usageTotals), ", ") + " FROM " + table +
			" WHERE project_id = ? AND " + period + " >= ? AND " + period + " < ?"
		if len(group) > 0 {
			statement += " GROUP BY " + strings.Join(group, ", ")
		}
		return statement
	}
	return [2]string{source("usage_hours", "hour", "hour / 24"), source("usage_days", "day", "day")}
}

// usageColumn is what usage can be grouped by: the column of the sums, and what it is made of.
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
