package models

import (
	"time"

	"gorm.io/gorm"
)

// LiveSessionsOf lists the sessions of an end user that have neither ended nor expired,
// newest first.
func (t *Tx) LiveSessionsOf(userID string, now time.Time, page Page) (List[LoginSession], error) {
	q := t.db.Where("user_id = ? AND ended_at IS NULL AND expires_at > ?", userID, now)
	id := func(row LoginSession) string { return row.ID }
	if page.Sort == (Sort{}) {
		return newestFirst(q, page, id)
	}
	return sorted(q, page, orders[LoginSession]{
		"created":   byID("id", id),
		"last_seen": byTime("seen_at", func(row LoginSession) *time.Time { return row.SeenAt }),
		"expires":   byTime("expires_at", func(row LoginSession) *time.Time { return &row.ExpiresAt }),
	}, "id", id)
}

// EndLoginsOf ends all sessions of an end user, and makes gateways refuse their access tokens until a time. That
// includes sessions that ended after since, whose last tokens may not have expired. It returns how many sessions were
// still active.
func (t *Tx) EndLoginsOf(userID string, now, since, barredUntil time.Time) (int64, error) {
	return t.barSessions(t.db.Where("user_id = ?", userID), now, since, barredUntil)
}

// EndLoginsAt is EndLoginsOf for the sessions of one app client.
func (t *Tx) EndLoginsAt(userID, clientID string, now, since, barredUntil time.Time) (int64, error) {
	return t.barSessions(t.db.Where("user_id = ? AND client_id = ?", userID, clientID), now, since, barredUntil)
}

// BarLoginSession is EndLoginsOf for one session.
func (t *Tx) BarLoginSession(id string, now, barredUntil time.Time) error {
	_, err := t.barSessions(t.db.Where("id = ?", id), now, time.Time{}, barredUntil)
	return err
}

func (t *Tx) barSessions(which *gorm.DB, now, since, barredUntil time.Time) (int64, error) {
	if err := t.noteLogouts(which, now); err != nil {
		return 0, err
	}
	ended := t.db.Model(&LoginSession{}).Where(which).Where("ended_at > ? AND barred_until IS NULL", since).
		UpdateColumn("barred_until", barredUntil)
	if ended.Error != nil {
		return 0, ended.Error
	}
	live := t.db.Model(&LoginSession{}).Where(which).Where("ended_at IS NULL").
		UpdateColumns(map[string]any{"ended_at": now, "barred_until": barredUntil})
	return live.RowsAffected, live.Error
}

// BarredSessions lists by ID the sessions of a project's app clients whose access tokens gateways must refuse at now.
func (t *Tx) BarredSessions(projectID string, now time.Time) ([]string, error) {
	var ids []string
	return ids, t.db.
		Model(&LoginSession{}).
		Where("barred_until > ? AND client_id IN (?)", now, t.clientsServed(projectID)).
		Order("id").
		Pluck("id", &ids).Error
}

// LoginConsentsOf lists the consents of an end user by app client.
func (t *Tx) LoginConsentsOf(userID string) ([]LoginConsent, error) {
	var list []LoginConsent
	return list, t.db.Where("user_id = ?", userID).Order("client_id").Find(&list).Error
}

// DeleteLoginConsent removes a consent.
func (t *Tx) DeleteLoginConsent(userID, clientID string) error {
	return t.db.Where("user_id = ? AND client_id = ?", userID, clientID).Delete(&LoginConsent{}).Error
}
