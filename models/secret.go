package models

import (
	"time"

	"postern/platform/secrets"
)

// DataKey is a row of data_keys: a key that encrypts a team's sealed columns, wrapped by a key that isn't in the
// database. Team isn't a foreign key: if a workspace is merged into a team, its sealed columns move to the team, but
// its data key stays.
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

// DataKeyOfTeam finds a team's oldest data key for a purpose. It returns false if there is none. If two are created at
// the same time, both stay, because each sealed value names its key.
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

// AddDataKey inserts a new data key of a team for a purpose.
func (t *Tx) AddDataKey(
	team string, purpose secrets.Purpose, wrap func(secrets.DataKey) (secrets.DataKey, error),
) (secrets.DataKey, error) {
	key, err := wrap(secrets.DataKey{ID: NewID(purpose.Kind()), Team: team})
	if err != nil {
		return secrets.DataKey{}, err
	}
	return key, t.InsertDataKey(key)
}

// InsertDataKey inserts a data key that already has an ID. It returns ErrDuplicate if the ID is taken.
func (t *Tx) InsertDataKey(key secrets.DataKey) error {
	return t.Insert(&DataKey{
		ID:             key.ID,
		TeamID:         key.Team,
		Wrapped:        key.Wrapped,
		GatewayWrapped: key.GatewayWrapped,
		CreatedAt:      Now(),
	})
}

// DataKeys lists by ID at most limit data keys of all teams, after the given ID.
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

// UpdateDataKey writes the wrapped forms of a data key.
func (t *Tx) UpdateDataKey(key secrets.DataKey) error {
	return t.db.Model(&DataKey{}).Where("id = ?", key.ID).
		Select("Wrapped", "GatewayWrapped").
		UpdateColumns(&DataKey{Wrapped: key.Wrapped, GatewayWrapped: key.GatewayWrapped}).Error
}
