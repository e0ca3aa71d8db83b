package models

import (
	"errors"
	"slices"

	"gorm.io/gorm/clause"
)

// Periods of traffic rows, in seconds.
const (
	TrafficMinute int64 = 60
	TrafficHour   int64 = 3600
	TrafficDay    int64 = 24 * 3600
)

// Levels of traffic rows.
const (
	TrafficOfProject = "project"
	TrafficOfRoute   = "route"
)

// trafficLevels are all of them: the primary key has them before the period.
var trafficLevels = []string{TrafficOfProject, TrafficOfRoute}

// TrafficSlot is the primary key of a row of usage_traffic. The rows of a project as a whole have no environment and
// no route.
type TrafficSlot struct {
	ProjectID     string `gorm:"primaryKey"`
	Level         string `gorm:"primaryKey"`
	Period        int64  `gorm:"primaryKey;autoIncrement:false"`
	Since         int64  `gorm:"primaryKey;autoIncrement:false"` // whole periods since 1970-01-01T00:00Z
	EnvironmentID string `gorm:"primaryKey"`
	Route         string `gorm:"primaryKey"`
}

// Traffic is a row of usage_traffic: calls in a period by outcome, and how long they took.
type Traffic struct {
	TrafficSlot

	Answered  int64
	Rejected  int64 // 4xx
	Failed    int64 // 5xx
	BytesIn   int64
	BytesOut  int64
	FirstByte []byte // histogram of the time to the response's first byte
	Total     []byte // histogram of the time to the response's end

	RejectedHere, FailedHere int64 // of these: refused by Postern, without calling the upstream
}

// TableName implements schema.Tabler.
func (Traffic) TableName() string { return "usage_traffic" }

// projectsAtOnce bounds the projects in one statement.
const projectsAtOnce = 200

// TrafficForUpdate returns the rows of the slots' projects and periods. Other transactions can't change rows of usage
// until this one ends.
func (t *Tx) TrafficForUpdate(slots []TrafficSlot) ([]Traffic, error) {
	if err := t.lockUsage(); err != nil {
		return nil, err
	}
	projects := map[TrafficSlot][]string{}
	for _, slot := range slots {
		at := TrafficSlot{Level: slot.Level, Period: slot.Period, Since: slot.Since}
		projects[at] = append(projects[at], slot.ProjectID)
	}
	var all []Traffic
	for at, ids := range projects {
		slices.Sort(ids)
		for ids := range slices.Chunk(slices.Compact(ids), projectsAtOnce) {
			var rows []Traffic
			err := t.db.
				Where("project_id IN ? AND level = ? AND period = ? AND since = ?", ids, at.Level, at.Period, at.Since).
				Find(&rows).Error
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
		}
	}
	return all, nil
}

// SetTraffic inserts rows, and replaces those with the same key. It writes nil histograms as empty ones.
func (t *Tx) SetTraffic(rows []Traffic) error {
	for i := range rows {
		for _, histogram := range []*[]byte{&rows[i].FirstByte, &rows[i].Total} {
			if *histogram == nil {
				*histogram = []byte{}
			}
		}
	}
	return t.db.Clauses(clause.OnConflict{
		Columns: []clause.Column{{Name: "project_id"}, {Name: "level"}, {Name: "period"}, {Name: "since"},
			{Name: "environment_id"}, {Name: "route"}},
		DoUpdates: clause.AssignmentColumns([]string{"answered", "rejected", "failed", "rejected_here",
			"failed_here", "bytes_in", "bytes_out", "first_byte", "total"}),
	}).CreateInBatches(rows, batchSize).Error
}

// TrafficOf returns the rows of projects in the periods from (inclusive) to (exclusive). It scans them without
// reflection, since a page of projects has more than a thousand.
func (t *Tx) TrafficOf(projectIDs []string, level string, period, from, to int64) (list []Traffic, err error) {
	rows, err := t.db.
		Model(&Traffic{}).
		Select("project_id, since, environment_id, route, answered, rejected, failed, rejected_here, failed_here, "+
			"bytes_in, bytes_out, first_byte, total").
		Where("project_id IN ? AND level = ? AND period = ? AND since >= ? AND since < ?",
			projectIDs, level, period, from, to).
		Order("project_id, since").
		Rows()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		one := Traffic{TrafficSlot: TrafficSlot{Level: level, Period: period}}
		err := rows.Scan(
			&one.ProjectID, &one.Since, &one.EnvironmentID, &one.Route,
			&one.Answered, &one.Rejected, &one.Failed, &one.RejectedHere, &one.FailedHere,
			&one.BytesIn, &one.BytesOut, &one.FirstByte, &one.Total,
		)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// DeleteTraffic removes the rows of a project, level and period from before since.
func (t *Tx) DeleteTraffic(projectID, level string, period, since int64) error {
	return t.db.
		Where("project_id = ? AND level = ? AND period = ? AND since < ?", projectID, level, period, since).
		Delete(&Traffic{}).Error
}

// DeleteMinutes removes the rows of minutes from before since, of all projects.
func (t *Tx) DeleteMinutes(since int64) error {
	return t.db.Where("period = 60 AND since < ?", since).Delete(&Traffic{}).Error // as in the index
}
