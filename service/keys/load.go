package keys

import (
	"fmt"
	"maps"
	"slices"

	"postern/models"
)

// LoadAll adds all keys in the database. It first reads the compact form of most keys (see models.ScanAllKeys), and
// afterward the remaining keys and the names of the objects that keys refer to.
func (t *Table) LoadAll(tx *models.Tx) error {
	total, err := tx.CountAllKeys()
	if err != nil {
		return err
	}
	t.reserve(int(total))
	l := bulkLoad{table: t, places: map[string]uint32{}, added: map[uint32]models.KeyPlace{}}
	if err := t.loadGone(tx, ""); err != nil {
		return err
	}
	if err := tx.ScanAllKeys(l.put); err != nil {
		return err
	}
	if err := l.name(tx); err != nil {
		return err
	}
	for ids := range slices.Chunk(l.more, keysAtOnce) {
		if err := t.LoadKeys(tx, ids...); err != nil {
			return err
		}
	}
	return nil
}

// keysAtOnce bounds the parameters of a statement.
const keysAtOnce = 1000

// bulkLoad is the state of LoadAll.
type bulkLoad struct {
	table  *Table
	places map[string]uint32          // records of common by models.ServedKey.Place
	added  map[uint32]models.KeyPlace // records of common without names
	more   []string                   // ids of keys that are not read yet
}

func (l *bulkLoad) put(row *models.ServedKey) error {
	if row.More {
		l.more = append(l.more, row.ID.String("key"))
		return nil
	}
	r := record{id: row.ID, owner: string(row.Owner), expires: row.Expires, state: stateByte(row.State)}
	if copy(r.hash[:], row.Hash) != len(row.Hash) || len(row.Hash) != len(r.hash) {
		return fmt.Errorf("keys: the hash of %s has %d bytes", row.ID.String("key"), len(row.Hash))
	}
	t := l.table
	t.lock()
	defer t.mu.Unlock()
	at, seen := l.places[string(row.Place)]
	if !seen {
		at = l.place(row)
	}
	r.common = at
	t.add(r)
	return nil
}

// place finds or adds the values that the row shares with others, without names.
func (l *bulkLoad) place(row *models.ServedKey) uint32 {
	t, place := l.table, row.KeyPlace()
	id := commonID{place.TeamID, place.ProjectID, place.ProductID, place.TenantID, place.Environment, place.KeyTypeID}
	at, known := t.commons[id]
	if !known {
		at = uint32(len(t.common))
		t.common = append(t.common, common{commonID: id})
		t.commons[id] = at
	}
	l.places[string(row.Place)], l.added[at] = at, place
	return at
}

// name reads the names of key types and tenants.
func (l *bulkLoad) name(tx *models.Tx) error {
	types, tenants := map[string]models.KeyType{}, map[string]string{}
	for _, place := range l.added {
		types[place.KeyTypeID], tenants[place.TenantID] = models.KeyType{}, ""
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(types)), keysAtOnce) {
		rows, err := tx.KeyTypesByID(ids)
		if err != nil {
			return err
		}
		for _, row := range rows {
			types[row.ID] = row
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(tenants)), keysAtOnce) {
		rows, err := tx.TenantsByID(ids)
		if err != nil {
			return err
		}
		for _, row := range rows {
			tenants[row.ID] = row.Name
		}
	}
	t := l.table
	t.lock()
	defer t.mu.Unlock()
	for at, place := range l.added {
		c, keyType := &t.common[at], types[place.KeyTypeID]
		c.keyType, c.scopes, c.tenant = keyType.Name, keyType.Scopes, tenants[place.TenantID]
	}
	return nil
}

// Retain removes the keys of all projects but those to keep.
func (t *Table) Retain(keep func(projectID string) bool) {
	t.lock()
	defer t.mu.Unlock()
	gone := make([]bool, len(t.common))
	for i := range t.common {
		gone[i] = !keep(t.common[i].project)
	}
	if !slices.Contains(gone, true) {
		return
	}
	for at := range t.records {
		if r := &t.records[at]; r.id != (models.RawID{}) && gone[r.common] {
			t.forget(uint32(at))
		}
	}
}
