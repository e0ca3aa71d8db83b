package keys

import (
	"encoding/binary"
	"math/bits"
)

// index finds a record by 64 bits of its key: open addressing
// with linear probing over record numbers, 4 bytes a slot. It never compares
// keys itself, so it needs no copy of them.
type index struct {
	slots []uint32 // 0: never used; 1: removed; n+2: record n
	used  int      // slots that are not 0
}

const (
	slotFree = 0
	slotGone = 1
	slotBase = 2
)

// position returns the first slot of a key, by Fibonacci hashing: keys that differ
// only in a few bits, such as ids that were counted up, must not share a chain.
func (x *index) position(key uint64) int {
	return int(key * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(len(x.slots)-1))))
}

// find returns the record for which same answers true.
func (x *index) find(key uint64, same func(record uint32) bool) (uint32, bool) {
	if len(x.slots) == 0 {
		return 0, false
	}
	for i := x.position(key); ; i = (i + 1) & (len(x.slots) - 1) {
		switch slot := x.slots[i]; {
		case slot == slotFree:
			return 0, false
		case slot >= slotBase && same(slot-slotBase):
			return slot - slotBase, true
		}
	}
}

// add enters a record that is not in the index. keyOf is asked for the keys of
// the others when the index has to grow.
func (x *index) add(key uint64, record uint32, keyOf func(record uint32) uint64) {
	if (x.used+1)*4 > len(x.slots)*3 {
		x.grow(keyOf)
	}
	x.place(key, record)
}

func (x *index) place(key uint64, record uint32) {
	for i := x.position(key); ; i = (i + 1) & (len(x.slots) - 1) {
		if x.slots[i] < slotBase {
			if x.slots[i] == slotFree {
				x.used++
			}
			x.slots[i] = record + slotBase
			return
		}
	}
}

// remove marks the slot of a record as removed, so that probing continues past it.
func (x *index) remove(key uint64, record uint32) {
	for i := x.position(key); x.slots[i] != slotFree; i = (i + 1) & (len(x.slots) - 1) {
		if x.slots[i] == record+slotBase {
			x.slots[i] = slotGone
			return
		}
	}
}

// reserve allocates an empty index for so many records.
func (x *index) reserve(total int) {
	size := 64
	for (total+1)*2 > size {
		size *= 2
	}
	x.slots, x.used = make([]uint32, size), 0
}

// grow doubles the index when it is full of records, and only sweeps it when it
// is full of slots given up.
func (x *index) grow(keyOf func(record uint32) uint64) {
	old, live := x.slots, 0
	for _, slot := range old {
		if slot >= slotBase {
			live++
		}
	}
	size := max(64, len(old))
	for (live+1)*2 > size {
		size *= 2
	}
	x.slots, x.used = make([]uint32, size), 0
	for _, slot := range old {
		if slot >= slotBase {
			x.place(keyOf(slot-slotBase), slot-slotBase)
		}
	}
}

// word returns the first 8 bytes of a hash or an id, by which an index places it.
func word(key []byte) uint64 { return binary.LittleEndian.Uint64(key) }
