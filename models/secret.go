package models

import (
	"time"

	"postern/platform/secrets"
)

// DataKey is a row of data_keys: what a team's sealed columns are encrypted with, wrapped by a key that is not in the
// database. Team isn't a foreign key: a workspace that is merged into a team leaves its sealed columns with that team,
// and its data key where it was.
type DataKey struct {
	ID             string `gorm:"primaryKey"`
	TeamID         string
	Wrapped        []byte
	GatewayWrapped []byte // empty: gateways do not need it
	CreatedAt      time.Time
}

func (k DataKey) key() secrets.DataKey {
	// SQLite's driver reads an empty value as nil, and writes nil as NULL.
	gateway := append([]byte{}, k.GatewayWrapped...)
	return secrets.DataKey{ID: k.ID, Team: k.TeamID, Wrapped: k.Wrapped, GatewayWrapped: gateway}
}

var _ secrets.Store = (*Tx)(nil)

// DataKeyOfTeam finds a team's oldest data key for a purpose; false if there is none. Two that are created at once are
// both kept: each sealed value names its own.
func (t *Tx) DataKeyOfTeam(team string, purpose secrets.Purpose) (secrets.DataKey, bool, error) {
	kind := purpose.Kind()
	var list []DataKey
	err := t.db.Where("team_id = ? AND id > ? AND id < ?", team, kind+"_", kind+"`").
		Order("id").Limit(1).Find(&list).Error
	if err != nil || len(list) == 0 {
		return secrets.DataKey{}, false, err
	}
	return list[0].key(), true, nil
}

// DataKeyByID finds a data key.
func (t *Tx) DataKeyByID(id string) (secrets.DataKey, error) {
	var row DataKey
	err := t.db.Where("id = ?", id).Take(&row).Error
	return row.key(), err
}

// AddDataKey keeps a new data key of a team for a purpose.
func (t *Tx) AddDataKey(
	team string, purpose secrets.Purpose, wrap func(secrets.DataKey) (secrets.DataKey, error),
) (secrets.DataKey, error) {
	key, err := wrap(secrets.DataKey{ID: NewID(purpose.Kind()), Team: team})
	if err != nil {
		return secrets.DataKey{}, err
	}
	return key, t.InsertDataKey(key)
}

// InsertDataKey keeps a data key that has its id already. It fails with ErrDuplicate
// where that id is taken.
func (t *Tx) InsertDataKey(key secrets.DataKey) error {
	return t.Insert(&DataKey{
		ID:             key.ID,
		TeamID:         key.Team,
		Wrapped:        key.Wrapped,
		GatewayWrapped: key.GatewayWrapped,
		CreatedAt:      Now(),
	})
}

// DataKeys lists at most limit data keys of all teams by id, after the id given.
func (t *Tx) DataKeys(after string, limit int) ([]secrets.DataKey, error) {
	var rows []DataKey
	err := t.db.Where("id > ?", after).Order("id").Limit(limit).Find(&rows).Error
	if err != nil {
		return nil, err
	}
	list := make([]secrets.DataKey, 0, len(rows))
	for _, row := range rows {
		list = append(list, row.key())
	}
	return list, nil
}

// UpdateDataKey writes how a data key is wrapped.
func (t *Tx) UpdateDataKey(key secrets.DataKey) error {
	return t.db.Model(&DataKey{}).Where("id = ?", key.ID).
		Select("Wrapped", "GatewayWrapped").
		UpdateColumns(&DataKey{Wrapped: key.Wrapped, GatewayWrapped: key.GatewayWrapped}).Error
}
