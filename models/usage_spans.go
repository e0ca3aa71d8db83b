package models

import "strconv"

// UsageSpan is a row of usage_spans: a UsageDay of several days.
type UsageSpan struct {
	ProjectID     string `gorm:"primaryKey"`
	Days          int64  `gorm:"primaryKey;autoIncrement:false"` // length of the span
	Since         int64  `gorm:"primaryKey;autoIncrement:false"` // in whole lengths since 1970-01-01
	EnvironmentID string `gorm:"primaryKey"`
	Owner         string `gorm:"primaryKey"`
	KeyID         string `gorm:"primaryKey"`
	Route         string `gorm:"primaryKey"`
	StatusClass   int64  `gorm:"primaryKey;autoIncrement:false"`
	Calls         int64
	BytesIn       int64
	BytesOut      int64
}

// spanLengths are the lengths of spans in days. Each is a multiple of the one before, of whose spans it is summed up.
var spanLengths = []int64{3, 9}

// hasSpan reports whether there is the span that begins at a number of its lengths.
func (f *UsageFold) hasSpan(days, since int64) bool {
	return f.SpansFrom != nil && f.SpansThrough != nil &&
		since*days >= *f.SpansFrom && (since+1)*days-1 <= *f.SpansThrough
}

// longest returns the length of the longest span that begins with a day and ends before another, 1 if there is none.
func (f *UsageFold) longest(day, end int64) int64 {
	for i := len(spanLengths) - 1; i >= 0; i-- {
		if days := spanLengths[i]; day%days == 0 && day+days <= end && f.hasSpan(days, day/days) {
			return days
		}
	}
	return 1
}

// foldSpans sums up a project's folded days that are in no span yet, of at most limit days.
func (t *Tx) foldSpans(projectID string, limit int64) error {
	folds, err := t.foldsOf(projectID)
	if err != nil {
		return err
	}
	fold := folds[projectID]
	ended := fold.ThroughDay
	if fold.SpansFrom == nil || fold.SpansThrough == nil {
		from, err := t.firstDay(projectID, ended+1)
		if err != nil {
			return err
		}
		before := from - 1
		fold.SpansFrom, fold.SpansThrough = &from, &before
	}
	through := max(*fold.SpansThrough, min(ended, *fold.SpansThrough+limit))
	for i, days := range spanLengths {
		from := max((*fold.SpansFrom+days-1)/days, (*fold.SpansThrough+1)/days)
		to := (through + 1) / days
		if from >= to {
			continue
		}
		part := daysPart(from*days, to*days)
		if i > 0 {
			shorter := spanLengths[i-1]
			part = spansPart(shorter, from*days/shorter, to*days/shorter)
		}
		if err := t.sumSpans(projectID, days, part); err != nil {
			return err
		}
	}
	return t.db.Model(&UsageFold{}).Where("project_id = ?", projectID).UpdateColumns(map[string]any{
		"spans_from": *fold.SpansFrom, "spans_through": through,
	}).Error
}

// firstDay returns the first day of a project's usage, and none if there is none.
func (t *Tx) firstDay(projectID string, none int64) (int64, error) {
	var first *int64
	err := t.db.Model(&UsageDay{}).Select("min(day)").Where("project_id = ?", projectID).Scan(&first).Error
	if err != nil || first == nil {
		return none, err
	}
	return min(*first, none), nil
}

// sumSpans writes the spans of a length from shorter ones.
func (t *Tx) sumSpans(projectID string, days int64, of usagePart) error {
	length := strconv.FormatInt(days, 10)
	since := of.day + " / " + length
	const fields = "environment_id, owner, key_id, route, status_class"
	statement := "INSERT INTO usage_spans (project_id, days, since, " + fields + ", calls, bytes_in, bytes_out) " +
		"SELECT project_id, " + length + ", " + since + ", " + fields + ", sum(calls), sum(bytes_in), sum(bytes_out) " +
		"FROM " + of.rows + " GROUP BY project_id, " + since + ", " + fields + " " +
		"ON CONFLICT (project_id, days, since, " + fields + ") DO UPDATE " +
		"SET calls = excluded.calls, bytes_in = excluded.bytes_in, bytes_out = excluded.bytes_out"
	return t.db.Exec(statement, append([]any{projectID}, of.args...)...).Error
}

// addSpans adds days to the spans that they are in.
func (t *Tx) addSpans(days map[UsageDay]*UsageDay, folds map[string]UsageFold) error {
	spans := map[UsageSpan]*UsageSpan{} // several days are in one
	for _, day := range days {
		fold := folds[day.ProjectID]
		for _, length := range spanLengths {
			key := UsageSpan{
				ProjectID:     day.ProjectID,
				Days:          length,
				Since:         day.Day / length,
				EnvironmentID: day.EnvironmentID,
				Owner:         day.Owner,
				KeyID:         day.KeyID,
				Route:         day.Route,
				StatusClass:   day.StatusClass,
			}
			if !fold.hasSpan(key.Days, key.Since) {
				continue
			}
			if spans[key] == nil {
				span := key
				spans[key] = &span
			}
			spans[key].Calls += day.Calls
			spans[key].BytesIn += day.BytesIn
			spans[key].BytesOut += day.BytesOut
		}
	}
	if len(spans) == 0 {
		return nil
	}
	list := make([]UsageSpan, 0, len(spans))
	for _, span := range spans {
		list = append(list, *span)
	}
	return t.db.Clauses(addingTo("usage_spans", "days", "since")).CreateInBatches(list, batchSize).Error
}

// deleteSpans removes the spans of a project that begin before a day.
func (t *Tx) deleteSpans(projectID string, day int64) error {
	for _, days := range spanLengths {
		err := t.db.Where("project_id = ? AND days = ? AND since < ?", projectID, days, (day+days-1)/days).
			Delete(&UsageSpan{}).Error
		if err != nil {
			return err
		}
	}
	return t.db.Model(&UsageFold{}).
		Where("project_id = ? AND spans_from < ?", projectID, day).
		UpdateColumn("spans_from", day).Error
}
