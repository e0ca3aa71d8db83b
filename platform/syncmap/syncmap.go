// Package syncmap has sync.Map with typed keys and values.
//
// It owns the conversions from any, so that the caches that use it have none. It leaves
// to its callers what is cached and for how long.
package syncmap

import "sync"

// Map is a sync.Map from K to V. The zero value is empty and ready to use; it is safe
// for concurrent use and must not be copied.
type Map[K comparable, V any] struct{ entries sync.Map }

// Load returns the value of a key; ok reports whether there is one.
func (m *Map[K, V]) Load(key K) (value V, ok bool) {
	found, ok := m.entries.Load(key)
	if !ok {
		return value, false
	}
	return found.(V), true
}

// Store sets the value of a key.
func (m *Map[K, V]) Store(key K, value V) { m.entries.Store(key, value) }

// LoadOrStore returns the value of a key if there is one. Otherwise it stores value and
// returns it. loaded reports whether there was one.
func (m *Map[K, V]) LoadOrStore(key K, value V) (actual V, loaded bool) {
	found, loaded := m.entries.LoadOrStore(key, value)
	return found.(V), loaded
}

// Delete removes a key.
func (m *Map[K, V]) Delete(key K) { m.entries.Delete(key) }

// Range calls visit for each key and its value, until visit returns false. Entries may be added and removed during
// this: see sync.Map.
func (m *Map[K, V]) Range(visit func(key K, value V) bool) {
	m.entries.Range(func(key, value any) bool { return visit(key.(K), value.(V)) })
}
