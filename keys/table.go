package keys

import (
	"errors"
	"sync"

	"postern/models"
	"postern/snapshot"
)

// Table holds all keys in memory by the hash of each secret that may be
// presented. It is safe for concurrent use; lookups do not wait for each other.
type Table struct {
	mu     sync.RWMutex
	byHash map[[32]byte]*snapshot.Key
	byID   map[string]*snapshot.Key
}

// NewTable makes an empty table.
func NewTable() *Table {
	return &Table{byHash: map[[32]byte]*snapshot.Key{}, byID: map[string]*snapshot.Key{}}
}

// Lookup finds the key whose secret has the hash; old tells that it is the
// secret before the last rotation. It returns nil where there is none. The key
// must not be changed.
func (t *Table) Lookup(hash [32]byte) (key *snapshot.Key, old bool) {
	t.mu.RLock()
	key = t.byHash[hash]
	t.mu.RUnlock()
	if key == nil {
		return nil, false
	}
	return key, key.Hash != hash
}

// LoadAll adds every key in the database.
func (t *Table) LoadAll(tx *models.Tx) error {
	projects, err := tx.AllProjectIDs()
	if err != nil {
		return err
	}
	for _, id := range projects {
		if err := t.LoadProject(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// LoadProject reads a project's keys again, for when something that all of them
// refer to has changed.
func (t *Table) LoadProject(tx *models.Tx, projectID string) error {
	return Scan(tx, projectID, func(k snapshot.Key) error {
		t.put(k)
		return nil
	})
}

// LoadKey reads one key again.
func (t *Table) LoadKey(tx *models.Tx, id string) error {
	row, err := tx.KeyByID(id)
	if errors.Is(err, models.ErrNotFound) {
		t.remove(id)
		return nil
	}
	if err != nil {
		return err
	}
	n, err := namesOf(tx, row.ProjectID)
	if err != nil {
		return err
	}
	t.put(n.snapshotOf(&row))
	return nil
}

func (t *Table) put(k snapshot.Key) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(k.ID)
	t.byID[k.ID] = &k
	t.byHash[k.Hash] = &k
	if k.OldHash != nil {
		t.byHash[*k.OldHash] = &k
	}
}

func (t *Table) remove(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(id)
}

func (t *Table) drop(id string) {
	was := t.byID[id]
	if was == nil {
		return
	}
	delete(t.byID, id)
	delete(t.byHash, was.Hash)
	if was.OldHash != nil {
		delete(t.byHash, *was.OldHash)
	}
}
