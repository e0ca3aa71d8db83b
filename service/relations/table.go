package relations

import (
	"encoding/binary"
	"sync"

	"postern/core/policy"
	"postern/models"
)

// Table holds the relations of the projects whose rules name objects, by their keys. A relation takes
// 16 bytes in a table that is between 3/8 and 3/4 full. It is safe for concurrent use.
type Table struct {
	mu       sync.RWMutex
	projects map[string]*set
	pending  map[pendingKey]int // remembered and not served yet, with how often
}

type pendingKey struct {
	project string
	key     policy.RelationKey
}

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{projects: map[string]*set{}, pending: map[pendingKey]int{}}
}

// Holds implements policy.Relations.
func (t *Table) Holds(projectID string, key policy.RelationKey) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.projects[projectID]; s != nil && s.has(key) {
		return true
	}
	return len(t.pending) > 0 && t.pending[pendingKey{projectID, key}] > 0
}

// Loaded reports whether the relations of a project are held.
func (t *Table) Loaded(projectID string) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.projects[projectID] != nil
}

// Len returns how many relations of a project are held.
func (t *Table) Len(projectID string) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.projects[projectID]; s != nil {
		return s.used
	}
	return 0
}

// LoadProject reads the relations of a project again. The relations in memory are served until then.
func (t *Table) LoadProject(tx *models.Tx, projectID string) error {
	total, err := tx.CountRelations(projectID)
	if err != nil {
		return err
	}
	fresh := newSet(int(total))
	err = tx.ScanRelations(projectID, func(r *models.Relation) error {
		fresh.add(policy.KeyOf(r.TenantID, r.User, r.Relation, r.Object))
		return nil
	})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.projects[projectID] = fresh
	return nil
}

// Apply applies the changes of a revision, if the project's relations are held.
func (t *Table) Apply(tx *models.Tx, projectID string, changes models.RelationChanges) error {
	if !t.Loaded(projectID) {
		return nil
	}
	if changes.All {
		return t.LoadProject(tx, projectID)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	held := t.projects[projectID]
	if held == nil {
		return nil
	}
	for _, c := range changes.List {
		key := policy.KeyOf(c.TenantID, c.User, c.Relation, c.Object)
		if c.Removed {
			held.remove(key)
		} else {
			held.add(key)
		}
	}
	return nil
}

// RemoveProject drops the relations of a project.
func (t *Table) RemoveProject(projectID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.projects, projectID)
}

// Replace takes the relations of another table, which is not used any more.
func (t *Table) Replace(by *Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.projects = by.projects
}

// expect serves a relation until release is called as often as expect, whether it is held or not.
func (t *Table) expect(projectID string, key policy.RelationKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[pendingKey{projectID, key}]++
}

func (t *Table) release(projectID string, key policy.RelationKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := pendingKey{projectID, key}
	if t.pending[at]--; t.pending[at] <= 0 {
		delete(t.pending, at)
	}
}

// set is a hash table of keys with linear probing. Keys are hashes already, so that their first bytes
// are the place. The zero key, which no relation has in practice, marks an empty slot.
type set struct {
	slots []policy.RelationKey // a power of two
	used  int
}

func newSet(expected int) *set {
	size := 16
	for size*3 < expected*4 {
		size *= 2
	}
	return &set{slots: make([]policy.RelationKey, size)}
}

func (s *set) place(key policy.RelationKey) uint64 {
	return binary.LittleEndian.Uint64(key[:]) & uint64(len(s.slots)-1)
}

func (s *set) has(key policy.RelationKey) bool {
	for at := s.place(key); ; at = (at + 1) & uint64(len(s.slots)-1) {
		switch s.slots[at] {
		case key:
			return true
		case policy.RelationKey{}:
			return false
		}
	}
}

func (s *set) add(key policy.RelationKey) {
	if (s.used+1)*4 > len(s.slots)*3 {
		s.grow()
	}
	at := s.place(key)
	for ; s.slots[at] != (policy.RelationKey{}); at = (at + 1) & uint64(len(s.slots)-1) {
		if s.slots[at] == key {
			return
		}
	}
	s.slots[at] = key
	s.used++
}

func (s *set) grow() {
	old := s.slots
	s.slots, s.used = make([]policy.RelationKey, 2*len(old)), 0
	for _, key := range old {
		if key != (policy.RelationKey{}) {
			s.add(key)
		}
	}
}

// remove moves later keys of the cluster up, so that lookups need no marks of removed ones.
func (s *set) remove(key policy.RelationKey) {
	mask := uint64(len(s.slots) - 1)
	at := s.place(key)
	for ; s.slots[at] != key; at = (at + 1) & mask {
		if s.slots[at] == (policy.RelationKey{}) {
			return
		}
	}
	s.used--
	for next := (at + 1) & mask; s.slots[next] != (policy.RelationKey{}); next = (next + 1) & mask {
		// A key may move to the gap unless its own place is between the two.
		if home := s.place(s.slots[next]); (next-home)&mask >= (next-at)&mask {
			s.slots[at], at = s.slots[next], next
		}
	}
	s.slots[at] = policy.RelationKey{}
}
