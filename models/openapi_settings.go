package models

import (
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// UpdateVersionOpenAPI writes the OpenAPI settings of a version if the row still has the UpdatedAt that
// the caller saw. It returns false if another change came first.
func (t *Tx) UpdateVersionOpenAPI(v Version, seen time.Time) (bool, error) {
	res := t.db.Model(&Version{}).Where("id = ? AND updated_at = ?", v.ID, seen).
		Select("OpenAPISettings", "UpdatedAt").
		UpdateColumns(&v)
	return res.RowsAffected == 1, res.Error
}

// InvalidRequest is a row of invalid_requests: calls of one day to an operation that did not match the OpenAPI
// document, and were forwarded anyway.
type InvalidRequest struct {
	ProjectID string `gorm:"primaryKey"`
	VersionID string `gorm:"primaryKey"`
	Operation string `gorm:"primaryKey"`
	Day       int64  `gorm:"primaryKey;autoIncrement:false"`
	Calls     int64
	Problem   string // of the last request
	LastAt    time.Time
}

// AddInvalidRequests adds to the counts of a day, and creates missing rows.
func (t *Tx) AddInvalidRequests(rows []InvalidRequest) error {
	if err := t.lockUsage(); err != nil {
		return err
	}
	upsert := clause.OnConflict{
		Columns: []clause.Column{{Name: "project_id"}, {Name: "version_id"}, {Name: "operation"}, {Name: "day"}},
		DoUpdates: clause.Set{
			{Column: clause.Column{Name: "calls"}, Value: gorm.Expr("invalid_requests.calls + excluded.calls")},
			{Column: clause.Column{Name: "problem"}, Value: gorm.Expr("excluded.problem")},
			{Column: clause.Column{Name: "last_at"}, Value: gorm.Expr("excluded.last_at")},
		},
	}
	return t.db.Clauses(upsert).CreateInBatches(rows, batchSize).Error
}

// InvalidRequestsOf lists a version's counts since a day, by operation. It doesn't set Day.
func (t *Tx) InvalidRequestsOf(projectID, versionID string, since int64) ([]InvalidRequest, error) {
	var rows []InvalidRequest
	err := t.db.
		Where("project_id = ? AND version_id = ? AND day >= ?", projectID, versionID, since).
		Order("operation, day").
		Find(&rows).Error
	if err != nil {
		return nil, err
	}
	var list []InvalidRequest
	for _, row := range rows {
		row.Day = 0
		if n := len(list); n > 0 && list[n-1].Operation == row.Operation {
			row.Calls += list[n-1].Calls
			list[n-1] = row
			continue
		}
		list = append(list, row)
	}
	return list, nil
}

// DeleteInvalidRequests deletes counts from before a day.
func (t *Tx) DeleteInvalidRequests(before int64) error {
	return t.db.Where("day < ?", before).Delete(&InvalidRequest{}).Error
}
