package models

import (
	"time"

	"gorm.io/gorm"

	"postern/platform/secrets"
)

// Export is a row of exports. A worker holds it by a lease: LeaseID names the
// attempt, and no other attempt may write the row before LeaseUntil.
type Export struct {
	ID          string `gorm:"primaryKey"`
	ProjectID   string
	Format      string
	Keys        string
	Consumers   bool
	Secrets     bool
	RequestedBy string         // actor, as in the audit log; "" for older exports
	Recipient   string         // age public key, "" for none
	FileKey     secrets.Sealed // age key that decrypts the file of an export with secrets, nil for others
	State       string
	Part        string
	RowsDone    int64
	RowsTotal   int64
	SizeBytes   int64
	SHA256      string `gorm:"column:sha256"`
	Exact       int64
	Approximate int64
	Lossy       int64
	Skipped     int64
	Problem     string
	LeaseID     string
	LeaseUntil  *time.Time
	CreatedAt   time.Time
	FinishedAt  *time.Time
	ExpiresAt   *time.Time

	// The counts above, without items that exist regardless of the team's configuration.
	ConfiguredExact       int64
	ConfiguredApproximate int64
	ConfiguredLossy       int64
	ConfiguredSkipped     int64
}

// ExportByID finds an export.
func (t *Tx) ExportByID(id string) (Export, error) {
	var e Export
	return e, t.db.Where("id = ?", id).Take(&e).Error
}

// ExportFilter selects exports. Empty fields select all.
type ExportFilter struct {
	State  string // at Now: a ready export may have expired before its row says so
	Format string
	Now    time.Time
}

// ExportsOf lists the exports of a project, newest first.
func (t *Tx) ExportsOf(projectID string, f ExportFilter, page Page) (List[Export], error) {
	q := t.db.Where("project_id = ?", projectID)
	switch f.State {
	case "":
	case "ready":
		q = q.Where("state = 'ready' AND (expires_at IS NULL OR expires_at > ?)", f.Now)
	case "expired":
		q = q.Where("(state = 'expired' OR state = 'ready' AND expires_at <= ?)", f.Now)
	default:
		q = q.Where("state = ?", f.State)
	}
	if f.Format != "" {
		q = q.Where("format = ?", f.Format)
	}
	id := func(row Export) string { return row.ID }
	if page.Sort == (Sort{}) {
		return newestFirst(q, page, id)
	}
	return sorted(q, page, orders[Export]{
		"created": byID("id", id),
		"size":    byNumber("size_bytes", func(row Export) int64 { return row.SizeBytes }),
	}, "id", id)
}

// LatestExports maps each project to its newest export.
func (t *Tx) LatestExports(projectIDs []string) (map[string]Export, error) {
	var list []Export
	newest := t.db.Model(&Export{}).Select("max(id)").Where("project_id IN ?", projectIDs).Group("project_id")
	err := t.db.Where("id IN (?)", newest).Find(&list).Error
	if err != nil {
		return nil, err
	}
	byProject := make(map[string]Export, len(list))
	for _, e := range list {
		byProject[e.ProjectID] = e
	}
	return byProject, nil
}

// LeaseExport takes the lease of an unfinished export. It returns false if the
// export is finished or another attempt holds it.
func (t *Tx) LeaseExport(id, leaseID string, now, until time.Time) (bool, error) {
	res := t.db.Model(&Export{}).
		Where("id = ? AND state IN ('queued', 'building') AND (lease_until IS NULL OR lease_until <= ?)", id, now).
		UpdateColumns(map[string]any{"state": "building", "lease_id": leaseID, "lease_until": until})
	return res.RowsAffected == 1, res.Error
}

// ProgressExport writes the state and progress, and renews the lease. It returns false if the lease was lost or the
// export has ended.
func (t *Tx) ProgressExport(e Export) (bool, error) {
	res := t.db.
		Model(&Export{}).
		Where("id = ? AND state = 'building' AND lease_id = ?", e.ID, e.LeaseID).
		Select("State", "Part", "RowsDone", "RowsTotal", "LeaseUntil").
		UpdateColumns(&e)
	return res.RowsAffected == 1, res.Error
}

// FinishExport writes the outcome of the attempt that holds the lease. It returns false if another attempt took over or
// the export was canceled.
func (t *Tx) FinishExport(e Export) (bool, error) {
	res := t.db.Model(&Export{}).Where("id = ? AND state = 'building' AND lease_id = ?", e.ID, e.LeaseID).
		Select(
			"State", "Part", "RowsDone", "RowsTotal", "SizeBytes", "SHA256", "Exact", "Approximate", "Lossy",
			"Skipped", "ConfiguredExact", "ConfiguredApproximate", "ConfiguredLossy", "ConfiguredSkipped", "Problem",
			"FileKey", "FinishedAt", "ExpiresAt", "LeaseUntil",
		).UpdateColumns(&e)
	return res.RowsAffected == 1, res.Error
}

// MoveExport changes the state of an export if its state is one of from.
func (t *Tx) MoveExport(id string, from []string, to string) (bool, error) {
	res := t.db.Model(&Export{}).Where("id = ? AND state IN ?", id, from).UpdateColumns(map[string]any{"state": to})
	return res.RowsAffected == 1, res.Error
}

// ExpireExport marks a ready export as expired and forgets the key of its file.
func (t *Tx) ExpireExport(id string) error {
	return t.db.Model(&Export{}).Where("id = ? AND state = 'ready'", id).
		UpdateColumns(map[string]any{"state": "expired", "file_key": nil}).Error
}

// DeleteExportsBefore removes the rows and ledgers of exports without a file that had ended by the given time.
func (t *Tx) DeleteExportsBefore(at time.Time) error {
	return t.db.Where("state IN ('expired', 'failed') AND finished_at <= ?", at).Delete(&Export{}).Error
}

// AbandonedExports lists exports whose worker stopped renewing its lease.
func (t *Tx) AbandonedExports(now time.Time, limit int) ([]Export, error) {
	var list []Export
	return list, t.db.Where("state = 'building' AND lease_until <= ?", now).Order("id").Limit(limit).Find(&list).Error
}

// ReleaseLeases ends the leases of all exports. Only the sole owner of a database may call it, before its workers
// start.
func (t *Tx) ReleaseLeases(now time.Time) error {
	return t.db.Model(&Export{}).Where("state = 'building'").UpdateColumns(map[string]any{"lease_until": now}).Error
}

// ExpiredExports lists exports that can no longer be downloaded but still have
// their file.
func (t *Tx) ExpiredExports(now time.Time, limit int) ([]Export, error) {
	var list []Export
	return list, t.db.Where("state = 'ready' AND expires_at <= ?", now).Order("id").Limit(limit).Find(&list).Error
}

// ExportStates maps the IDs of existing exports to their states.
func (t *Tx) ExportStates(ids []string) (map[string]string, error) {
	var rows []Export
	if err := t.db.Select("ID", "State").Where("id IN ?", ids).Find(&rows).Error; err != nil {
		return nil, err
	}
	states := make(map[string]string, len(rows))
	for _, row := range rows {
		states[row.ID] = row.State
	}
	return states, nil
}

// CountExports counts the exports of the installation by their state.
func (t *Tx) CountExports() (map[string]int64, error) {
	var rows []struct {
		State string
		N     int64
	}
	err := t.db.Model(&Export{}).Select("state, count(*) AS n").Group("state").Find(&rows).Error
	if err != nil {
		return nil, err
	}
	counts := map[string]int64{}
	for _, row := range rows {
		counts[row.State] = row.N
	}
	return counts, nil
}

// ProjectHasMore reports whether a project has more than n keys, users or relations, including those of its product and
// of shared tenants.
func (t *Tx) ProjectHasMore(projectID string, n int) (bool, error) {
	project, err := t.ProjectByID(projectID)
	if err != nil {
		return false, err
	}
	for _, rows := range []*gorm.DB{
		t.keysOf(projectID, project.ProductID).Model(&APIKey{}),
		t.db.Model(&EndUser{}).Where("tenant_id IN (?)", t.served(projectID)),
		t.db.Model(&Relation{}).Where("project_id = ?", projectID),
	} {
		var more []int
		if err := rows.Select("1").Offset(n).Limit(1).Scan(&more).Error; err != nil || len(more) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
