package syncmap_test

import (
	"testing"

	"postern/platform/syncmap"
)

func TestMap(t *testing.T) {
	t.Parallel()
	var m syncmap.Map[string, int]
	if value, ok := m.Load("a"); value != 0 || ok {
		t.Errorf("Load of an absent key = %d, %v", value, ok)
	}
	if value, loaded := m.LoadOrStore("a", 1); value != 1 || loaded {
		t.Errorf("LoadOrStore of an absent key = %d, %v", value, loaded)
	}
	if value, loaded := m.LoadOrStore("a", 2); value != 1 || !loaded {
		t.Errorf("LoadOrStore of a present key = %d, %v", value, loaded)
	}
	m.Store("b", 3)
	sum := 0
	m.Range(func(_ string, value int) bool { sum += value; return true })
	if sum != 4 {
		t.Errorf("Range visited values of %d, want 4", sum)
	}
	m.Delete("a")
	if value, ok := m.Load("a"); ok {
		t.Errorf("Load of a deleted key = %d", value)
	}
}
