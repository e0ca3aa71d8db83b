package models

import "errors"

// UsageLogEntry is a row of usage_log: counts of calls that are not added to hourly rows yet. Ids sort by creation.
type UsageLogEntry struct {
	ID        string `gorm:"primaryKey"`
	WrittenAt int64  // Unix seconds
	Sums      int64  // how many are in Payload
	Payload   []byte
}

// TableName implements schema.Tabler.
func (UsageLogEntry) TableName() string { return "usage_log" }

// ErrUsageLogTaken is returned by TakeUsageLog if another transaction has removed one of the entries.
var ErrUsageLogTaken = errors.New("models: entries of usage_log were taken by another transaction")

// AppendUsageLog adds entries. It takes no lock: replicas append at the same time.
func (t *Tx) AppendUsageLog(entries []UsageLogEntry) error {
	for i := range entries { // one by one, since payloads are large
		if err := t.db.Create(&entries[i]).Error; err != nil {
			return err
		}
	}
	return nil
}

// UsageLogSince returns when the oldest entry was written, in Unix seconds; 0 if there is none.
func (t *Tx) UsageLogSince() (since int64, err error) {
	return since, t.db.Model(&UsageLogEntry{}).Select("coalesce(min(written_at), 0)").Scan(&since).Error
}

// NextUsageLog returns the first entry after the given ID, or ErrNotFound if there is none.
func (t *Tx) NextUsageLog(after string) (UsageLogEntry, error) {
	var entry UsageLogEntry
	return entry, t.db.Where("id > ?", after).Order("id").Take(&entry).Error
}

// TakeUsageLog removes entries, all or none: if the transaction commits, their counts are the caller's.
func (t *Tx) TakeUsageLog(ids []string) error {
	// Replicas that take the same entries in another order would wait for each other.
	if err := t.lockUsage(); err != nil {
		return err
	}
	for len(ids) > 0 {
		batch := ids[:min(len(ids), batchSize)]
		ids = ids[len(batch):]
		res := t.db.Where("id IN ?", batch).Delete(&UsageLogEntry{})
		if res.Error != nil {
			return res.Error
		}
		if res.RowsAffected != int64(len(batch)) {
			return ErrUsageLogTaken
		}
	}
	return nil
}

// ExistingProjects returns which of the projects have a row.
func (t *Tx) ExistingProjects(ids []string) (map[string]bool, error) {
	there := make(map[string]bool, len(ids))
	for len(ids) > 0 {
		batch := ids[:min(len(ids), batchSize)]
		ids = ids[len(batch):]
		var some []string
		if err := t.db.Model(&Project{}).Where("id IN ?", batch).Pluck("id", &some).Error; err != nil {
			return nil, err
		}
		for _, id := range some {
			there[id] = true
		}
	}
	return there, nil
}
