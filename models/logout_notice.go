package models

import (
	"time"

	"gorm.io/gorm"
)

// LogoutNotice is a row of logout_notices: an ended session about which its app client still has to be notified.
type LogoutNotice struct {
	ID        string `gorm:"primaryKey"`
	ClientID  string
	SessionID string // not a foreign key, like the next: both can be deleted first
	UserID    string
	Attempts  int64
	DueAt     time.Time
	CreatedAt time.Time
}

// noteLogouts adds a notice for each of the sessions that has not ended and whose app
// client wants to be told. It comes before the change that ends them.
func (t *Tx) noteLogouts(sessions *gorm.DB, now time.Time) error {
	wanting := t.db.Model(&AppClient{}).Select("id").Where("backchannel_logout_uri <> ''")
	var rows []LoginSession
	err := t.db.Where(sessions).Where("ended_at IS NULL AND expires_at > ? AND client_id IN (?)", now, wanting).
		Order("id").Find(&rows).Error
	if err != nil || len(rows) == 0 {
		return err
	}
	notices := make([]LogoutNotice, 0, len(rows))
	for _, row := range rows {
		notices = append(notices, LogoutNotice{
			ID:        NewID("lgo"),
			ClientID:  row.ClientID,
			SessionID: row.ID,
			UserID:    row.UserID,
			DueAt:     now,
			CreatedAt: now,
		})
	}
	return t.db.CreateInBatches(&notices, 100).Error
}

// DueLogoutNotices lists at most limit notices that are due at now, oldest first.
func (t *Tx) DueLogoutNotices(now time.Time, limit int) ([]LogoutNotice, error) {
	var list []LogoutNotice
	return list, t.db.Where("due_at <= ?", now).Order("due_at, id").Limit(limit).Find(&list).Error
}

// ClaimLogoutNotice counts an attempt to deliver a notice and sets when the next one is due. It returns false if
// another process claimed the attempt first.
func (t *Tx) ClaimLogoutNotice(notice LogoutNotice, next time.Time) (bool, error) {
	res := t.db.Model(&LogoutNotice{}).Where("id = ? AND attempts = ?", notice.ID, notice.Attempts).
		UpdateColumns(map[string]any{"attempts": notice.Attempts + 1, "due_at": next})
	return res.RowsAffected == 1, res.Error
}

// DeleteLogoutNotice removes a notice.
func (t *Tx) DeleteLogoutNotice(id string) error {
	return t.db.Where("id = ?", id).Delete(&LogoutNotice{}).Error
}
