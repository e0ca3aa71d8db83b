package models

import (
	"time"

	"gorm.io/gorm"
)

// Gateway is a row of gateways: a process that reports on targets, and the database's time of its last sign of life.
type Gateway struct {
	ID     string `gorm:"primaryKey"`
	SeenAt time.Time
}

// GatewaySilence is how long a gateway can be silent before its reports no longer count.
const GatewaySilence = 30 * time.Second

// TargetReport is a row of target_reports: a target that a gateway considers unhealthy.
type TargetReport struct {
	GatewayID     string `gorm:"primaryKey"`
	EnvironmentID string `gorm:"primaryKey"`
	Target        string `gorm:"primaryKey"` // host, with the port unless that is the scheme's default
	ProjectID     string
	State         string // a contract.TargetHealth.Health
	Reason        string
	Since         time.Time
}

// TargetHealth is a row of target_health: the last state of a target that webhooks were notified of. Targets that were
// never unhealthy have no row.
type TargetHealth struct {
	EnvironmentID string `gorm:"primaryKey"`
	Target        string `gorm:"primaryKey"`
	ProjectID     string
	State         string // healthy or unhealthy
	Since         time.Time
	QuietSince    *time.Time // since when no gateway reports an unhealthy target
}

// TableName implements schema.Tabler.
func (TargetHealth) TableName() string { return "target_health" }

// DatabaseTime returns the database's time, which all replicas share.
func (t *Tx) DatabaseTime() (time.Time, error) { return t.clock() }

// GatewayAlive records that a gateway is alive. It returns false if the gateway's row, and so its reports, were
// missing.
func (t *Tx) GatewayAlive(id string) (known bool, err error) {
	now, err := t.clock()
	if err != nil {
		return false, err
	}
	res := t.db.Model(&Gateway{}).Where("id = ?", id).UpdateColumn("seen_at", now)
	if res.Error != nil || res.RowsAffected == 1 {
		return res.RowsAffected == 1, res.Error
	}
	return false, t.db.Create(&Gateway{ID: id, SeenAt: now}).Error
}

// ForgetGateway deletes a gateway with its reports.
func (t *Tx) ForgetGateway(id string) error {
	return t.db.Where("id = ?", id).Delete(&Gateway{}).Error
}

// ForgetGateways deletes the gateways that haven't been seen since a time, with their reports.
func (t *Tx) ForgetGateways(before time.Time) error {
	return t.db.Where("seen_at < ?", before).Delete(&Gateway{}).Error
}

// ReplaceTargetReports replaces all reports of a gateway.
func (t *Tx) ReplaceTargetReports(gatewayID string, rows []TargetReport) error {
	err := t.db.Where("gateway_id = ?", gatewayID).Delete(&TargetReport{}).Error
	if err != nil || len(rows) == 0 {
		return err
	}
	return t.db.CreateInBatches(rows, batchSize).Error
}

// LiveGateways counts the gateways that are alive.
func (t *Tx) LiveGateways() (n int64, err error) {
	now, err := t.clock()
	if err != nil {
		return 0, err
	}
	return n, t.db.Model(&Gateway{}).Where("seen_at > ?", now.Add(-GatewaySilence)).Count(&n).Error
}

// TargetReports lists the reports of live gateways about the targets of a project, or of all projects for "", oldest
// first.
func (t *Tx) TargetReports(projectID string) (list []TargetReport, err error) {
	now, err := t.clock()
	if err != nil {
		return nil, err
	}
	q := t.db.
		Joins("JOIN gateways ON gateways.id = target_reports.gateway_id").
		Where("gateways.seen_at > ?", now.Add(-GatewaySilence))
	if projectID != "" {
		q = q.Where("target_reports.project_id = ?", projectID)
	}
	return list, q.Order("target_reports.since, target_reports.gateway_id").Find(&list).Error
}

// TargetHealthOf lists the states of a project's targets that webhooks were notified of.
func (t *Tx) TargetHealthOf(projectID string) (list []TargetHealth, err error) {
	return list, t.db.Where("project_id = ?", projectID).Find(&list).Error
}

// UnhealthyTargets lists the targets that are unhealthy according to the last notification of webhooks.
func (t *Tx) UnhealthyTargets() (list []TargetHealth, err error) {
	return list, t.db.Where("state = 'unhealthy'").Find(&list).Error
}

// MarkTargetUnhealthy records that a target is unhealthy. It returns false if that was already recorded, even by
// another replica at the same time.
func (t *Tx) MarkTargetUnhealthy(row TargetHealth) (bool, error) {
	res := t.db.Exec(`INSERT INTO target_health (environment_id, target, project_id, state, since)
		VALUES (?, ?, ?, 'unhealthy', ?)
		ON CONFLICT (environment_id, target) DO UPDATE SET state = excluded.state, since = excluded.since,
			quiet_since = NULL
		WHERE target_health.state = 'healthy'`, row.EnvironmentID, row.Target, row.ProjectID, row.Since)
	return res.RowsAffected == 1, res.Error
}

func (t *Tx) unhealthyTarget(row TargetHealth) *gorm.DB {
	return t.db.
		Model(&TargetHealth{}).
		Where("environment_id = ? AND target = ? AND state = 'unhealthy'", row.EnvironmentID, row.Target)
}

// SetTargetQuiet records since when no gateway reports an unhealthy target; nil if one does.
func (t *Tx) SetTargetQuiet(row TargetHealth, since *time.Time) error {
	return t.unhealthyTarget(row).UpdateColumn("quiet_since", since).Error
}

// MarkTargetHealthy records that a target has been healthy since row.QuietSince. It returns false if that was already
// recorded, or if a gateway has reported the target since row was read.
func (t *Tx) MarkTargetHealthy(row TargetHealth) (bool, error) {
	res := t.unhealthyTarget(row).Where("quiet_since = ?", row.QuietSince).UpdateColumns(map[string]any{
		"state": "healthy", "since": row.QuietSince, "quiet_since": nil,
	})
	return res.RowsAffected == 1, res.Error
}

// DeleteTargetHealth deletes the row of a target.
func (t *Tx) DeleteTargetHealth(row TargetHealth) error {
	return t.db.Where("environment_id = ? AND target = ?", row.EnvironmentID, row.Target).
		Delete(&TargetHealth{}).Error
}

// DeleteTargetHealthBefore deletes the rows of targets that have been healthy since before a time.
func (t *Tx) DeleteTargetHealthBefore(before time.Time) error {
	return t.db.Where("state = 'healthy' AND since < ?", before).Delete(&TargetHealth{}).Error
}
