package models

import (
	"maps"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// UsageFold is a row of usage_folds: up to which day, inclusive, the hours of a project are folded into days, and
// which of these days are folded into spans.
type UsageFold struct {
	ProjectID    string `gorm:"primaryKey"`
	ThroughDay   int64
	SpansFrom    *int64 // all spans from this day
	SpansThrough *int64 // through this day exist; nil: none
}

// UsageDay is a row of usage_days: a UsageHour of a day, in whole days since 1970-01-01.
type UsageDay struct {
	ProjectID     string `gorm:"primaryKey"`
	Day           int64  `gorm:"primaryKey;autoIncrement:false"`
	EnvironmentID string `gorm:"primaryKey"`
	Owner         string `gorm:"primaryKey"`
	KeyID         string `gorm:"primaryKey"`
	Route         string `gorm:"primaryKey"`
	StatusClass   int64  `gorm:"primaryKey;autoIncrement:false"`
	Calls         int64
	BytesIn       int64
	BytesOut      int64
}

// foldsOf returns how far projects are folded; those that are not are absent.
func (t *Tx) foldsOf(projectIDs ...string) (map[string]UsageFold, error) {
	var rows []UsageFold
	err := t.db.Where("project_id IN ?", projectIDs).Find(&rows).Error
	out := make(map[string]UsageFold, len(rows))
	for _, row := range rows {
		out[row.ProjectID] = row
	}
	return out, err
}

// UnfoldedProjects returns projects whose usage is not folded through day, at most limit.
func (t *Tx) UnfoldedProjects(day int64, limit int) ([]string, error) {
	var ids []string
	return ids, t.db.
		Table("projects").
		Joins("LEFT JOIN usage_folds ON usage_folds.project_id = projects.id").
		Where("usage_folds.through_day IS NULL OR usage_folds.through_day < ? OR usage_folds.spans_through IS NULL OR "+
			"usage_folds.spans_through < ?", day, day).
		Limit(limit).
		Pluck("projects.id", &ids).Error
}

// FoldUsage sums up a project's hours through the given day that are not folded yet, of at most limit days, and sets
// the counts of its traffic to those of the hours. It sums up as many folded days to spans.
func (t *Tx) FoldUsage(projectID string, through, limit int64) error {
	if err := t.lockUsage(); err != nil {
		return err
	}
	from, err := t.unfoldedFrom(projectID, through)
	if err != nil {
		return err
	}
	if from <= through {
		through = min(through, from+limit-1)
		for _, statement := range foldStatements {
			if err := t.db.Exec(statement, projectID, from*24, (through+1)*24).Error; err != nil {
				return err
			}
		}
	}
	if err := t.setFolded(projectID, through); err != nil {
		return err
	}
	return t.foldSpans(projectID, limit)
}

// unfoldedFrom returns the first day of a project that is not folded, through+1 if there are none.
func (t *Tx) unfoldedFrom(projectID string, through int64) (int64, error) {
	folds, err := t.foldsOf(projectID)
	if err != nil {
		return 0, err
	}
	if fold, ok := folds[projectID]; ok {
		return fold.ThroughDay + 1, nil
	}
	var first *int64
	err = t.db.Model(&UsageHour{}).Select("min(hour)").Where("project_id = ?", projectID).Scan(&first).Error
	if err != nil || first == nil {
		return through + 1, err
	}
	return *first / 24, nil
}

// setFolded records how far a project is folded; it doesn't undo what another transaction has recorded.
func (t *Tx) setFolded(projectID string, through int64) error {
	const statement = `INSERT INTO usage_folds (project_id, through_day) VALUES (?, ?)
	ON CONFLICT (project_id) DO UPDATE SET through_day = excluded.through_day
	WHERE usage_folds.through_day < excluded.through_day`
	return t.db.Exec(statement, projectID, through).Error
}

const ofHours = " FROM usage_hours WHERE project_id = ? AND hour >= ? AND hour < ? GROUP BY "

var foldStatements = []string{
	`INSERT INTO usage_days (project_id, day, environment_id, owner, key_id, route, status_class, calls, bytes_in,
	bytes_out) SELECT project_id, hour / 24, environment_id, owner, key_id, route, status_class,
	sum(calls), sum(bytes_in), sum(bytes_out)` + ofHours + `project_id, hour / 24, environment_id, owner, key_id, route,
	status_class
	ON CONFLICT (project_id, day, environment_id, owner, key_id, route, status_class) DO UPDATE
	SET calls = excluded.calls, bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out`,
	foldTraffic("'project'", "3600", "hour", "''", "''"),
	foldTraffic("'project'", "86400", "hour / 24", "''", "''"),
	foldTraffic("'route'", "3600", "hour", "environment_id", "route"),
	foldTraffic("'route'", "86400", "hour / 24", "environment_id", "route"),
}

// foldTraffic leaves the histograms of rows and what was refused here unchanged.
func foldTraffic(level, period, since, environment, route string) string {
	by := "project_id, " + since
	if environment != "''" {
		by += ", environment_id, route"
	}
	return `INSERT INTO usage_traffic (project_id, level, period, since, environment_id, route, answered,
	rejected, failed, rejected_here, failed_here, bytes_in, bytes_out, first_byte, total) SELECT ` +
		strings.Join([]string{"project_id", level, period, since, environment, route}, ", ") + `,
	sum(CASE WHEN status_class IN (4, 5) THEN 0 ELSE calls END), sum(CASE status_class WHEN 4 THEN calls ELSE 0 END),
	sum(CASE status_class WHEN 5 THEN calls ELSE 0 END), 0, 0, sum(bytes_in), sum(bytes_out), '', ''` + ofHours + by + `
	ON CONFLICT (project_id, level, period, since, environment_id, route) DO UPDATE SET answered = excluded.answered,
	rejected = excluded.rejected, failed = excluded.failed, bytes_in = excluded.bytes_in,
	bytes_out = excluded.bytes_out`
}

// addLate adds rows of hours whose days are folded already to those days and their spans too: of calls that began long
// before they ended.
func (t *Tx) addLate(rows []UsageHour) error {
	today := Now().Unix() / TrafficDay
	var ids []string
	for i := range rows {
		if rows[i].Hour/24 < today {
			ids = append(ids, rows[i].ProjectID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	folds := map[string]UsageFold{}
	for len(ids) > 0 {
		some, err := t.foldsOf(ids[:min(len(ids), batchSize)]...)
		if err != nil {
			return err
		}
		maps.Copy(folds, some)
		ids = ids[min(len(ids), batchSize):]
	}
	days := map[UsageDay]*UsageDay{}
	for i := range rows {
		fold, ok := folds[rows[i].ProjectID]
		if !ok || rows[i].Hour/24 > fold.ThroughDay {
			continue
		}
		key := UsageDay{
			ProjectID:     rows[i].ProjectID,
			Day:           rows[i].Hour / 24,
			EnvironmentID: rows[i].EnvironmentID,
			Owner:         rows[i].Owner,
			KeyID:         rows[i].KeyID,
			Route:         rows[i].Route,
			StatusClass:   rows[i].StatusClass,
		}
		if days[key] == nil {
			day := key
			days[key] = &day
		}
		days[key].Calls += rows[i].Calls
		days[key].BytesIn += rows[i].BytesIn
		days[key].BytesOut += rows[i].BytesOut
	}
	return t.addDays(days, folds)
}

// addDays adds to days that are folded, and to the spans that they are in.
func (t *Tx) addDays(days map[UsageDay]*UsageDay, folds map[string]UsageFold) error {
	if len(days) == 0 {
		return nil
	}
	list := make([]UsageDay, 0, len(days))
	for _, day := range days {
		list = append(list, *day)
	}
	if err := t.db.Clauses(addingTo("usage_days", "day")).CreateInBatches(list, batchSize).Error; err != nil {
		return err
	}
	return t.addSpans(days, folds)
}

// addingTo adds the counts of rows to those with the same key. period has the columns of the time.
func addingTo(table string, period ...string) clause.OnConflict {
	add := func(column string) clause.Assignment {
		return clause.Assignment{
			Column: clause.Column{Name: column},
			Value:  gorm.Expr(table + "." + column + " + excluded." + column),
		}
	}
	columns := []clause.Column{{Name: "project_id"}, {Name: "environment_id"}, {Name: "owner"}, {Name: "key_id"},
		{Name: "route"}, {Name: "status_class"}}
	for _, name := range period {
		columns = append(columns, clause.Column{Name: name})
	}
	return clause.OnConflict{
		Columns:   columns,
		DoUpdates: clause.Set{add("calls"), add("bytes_in"), add("bytes_out")},
	}
}
