package engine

import "sync"

// inbox holds bytes that were read and not used yet. It has memory only while
// it holds some: a connection that waits costs none.
type inbox struct {
	data []byte // nil, or all of a pooled array
	r, w int    // what is held is data[r:w]
}

// Sizes of pooled memory. Heads and small bodies are read into the small one;
// large bodies gain a tenth from the large one.
const (
	smallBox = 16 << 10
	largeBox = 64 << 10
	// Around what is held there is room to frame it as a chunk in place.
	headroom = 16
	tailroom = 8
)

var (
	smallBoxes = sync.Pool{New: func() any { return new([headroom + smallBox + tailroom]byte) }}
	largeBoxes = sync.Pool{New: func() any { return new([headroom + largeBox + tailroom]byte) }}
)

func (b *inbox) held() []byte { return b.data[b.r:b.w] }
func (b *inbox) empty() bool  { return b.r == b.w }

// free is where the next read may put its bytes; it takes memory when there is
// none, and is empty when the box is full.
func (b *inbox) free() []byte {
	if b.data == nil {
		b.data = smallBoxes.Get().(*[headroom + smallBox + tailroom]byte)[:]
		b.r, b.w = headroom, headroom
	}
	return b.data[b.w : len(b.data)-tailroom]
}

// use drops the first n bytes held.
func (b *inbox) use(n int) {
	if b.r += n; b.r == b.w {
		b.r, b.w = headroom, headroom
	}
}

// settle moves what is held to the beginning, so that as much as possible is free.
func (b *inbox) settle() {
	if b.data != nil && b.r > headroom {
		b.w = headroom + copy(b.data[headroom:], b.data[b.r:b.w])
		b.r = headroom
	}
}

// enlarge moves what is held into a large box; false when it is in one.
func (b *inbox) enlarge() bool {
	if len(b.data) == headroom+largeBox+tailroom {
		return false
	}
	large := largeBoxes.Get().(*[headroom + largeBox + tailroom]byte)[:]
	n := 0
	if b.data != nil {
		n = copy(large[headroom:], b.held())
	}
	b.release()
	b.data, b.r, b.w = large, headroom, headroom+n
	return true
}

// release gives the memory back, with whatever it held.
func (b *inbox) release() {
	switch len(b.data) {
	case 0:
		return
	case headroom + smallBox + tailroom:
		smallBoxes.Put((*[headroom + smallBox + tailroom]byte)(b.data))
	default:
		largeBoxes.Put((*[headroom + largeBox + tailroom]byte)(b.data))
	}
	*b = inbox{}
}
